// One of four simulated cards at a quarter of the others' speed: synchronous steps wait for it,
// asynchronous ones do not. Prints the samples a second of both and their ratio, medians of rounds
// that alternate.
//
//     build/benchmarks/benchmark_slow_card [rounds]

#include <pagoda/pagoda.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "bench/median.h"

namespace {

constexpr int kCards = 4;
constexpr std::int64_t kBatch = 32;
// The cards' speed is set by waiting, so that a few cores can stand for all of them.
constexpr double kSlowDown = 12;
constexpr int kSteps = 6;

at::Tensor loss(pagoda::LeNet5& model, const pagoda::Batch& batch) {
  return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
}

/// Samples a second of some steps.
double rate(pagoda::ModelStep<pagoda::LeNet5>& step, const std::vector<pagoda::Batch>& feeds,
            int steps) {
  const auto begin = std::chrono::steady_clock::now();
  double samples = 0;
  for (int i = 0; i < steps; ++i) samples += step.run(feeds, loss).weight;
  step.finish();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return samples / seconds.count();
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: %s [rounds], at least 1\n", argv[0]);
    return 2;
  }
  const auto cards = pagoda::simulate_devices(
      kCards, {.card = {.slow_down = kSlowDown},
               .single_cards = {{kCards - 1, {.slow_down = 4 * kSlowDown}}}});
  const auto make_model = [] { return pagoda::LeNet5(); };
  auto sync_towers = pagoda::make_towers(cards, make_model);
  auto async_towers =
      pagoda::make_towers(cards, make_model, {.placement = pagoda::ParameterPlacement::host});
  pagoda::SyncStep sync(sync_towers, pagoda::Adam{});
  pagoda::AsyncStep async(async_towers, pagoda::Adam{});
  const std::vector<pagoda::Batch> feeds(kCards,
                                         {.input = torch::randn({kBatch, 3, 28, 28}),
                                          .target = torch::randint(10, {kBatch}, torch::kLong)});

  std::vector<double> sync_rates;
  std::vector<double> async_rates;
  std::vector<double> ratios;
  rate(sync, feeds, 1);
  rate(async, feeds, 1);
  for (int round = 0; round < rounds; ++round) {
    sync_rates.push_back(rate(sync, feeds, kSteps));
    async_rates.push_back(rate(async, feeds, 4 * kSteps));  // more of them, for its slow end
    ratios.push_back(async_rates.back() / sync_rates.back());
  }
  std::printf("synchronous  %8.1f samples/s\nasynchronous %8.1f samples/s\nratio        %8.2f\n",
              pagoda::app::median(sync_rates), pagoda::app::median(async_rates),
              pagoda::app::median(ratios));
  return 0;
}
