// Four simulated cards on links so slow that copies take half of a step: what it is worth that feeds
// and gradients travel while the cards compute. Prints the time of a step both ways and their ratio,
// medians of rounds that alternate, and what a card's threads and its link do in one step.
//
//     build/benchmarks/benchmark_card_overlap [rounds]

#include <pagoda/pagoda.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <torch/torch.h>

#include "bench/median.h"
#include "sim/sim_card.h"

namespace {

using pagoda::SimCard;
using Clock = std::chrono::steady_clock;

constexpr int kCards = 4;
constexpr std::int64_t kBatch = 128;
constexpr std::int64_t kWidth = 512;
constexpr int kLayers = 8;
// The cards' speed is set by waiting, so that a few cores can stand for all of them.
constexpr double kSlowDown = 30;
constexpr int kSteps = 8;

struct Mlp : torch::nn::Module {
  Mlp() {
    for (int i = 0; i < kLayers; ++i) {
      layers->push_back(torch::nn::Linear(kWidth, i + 1 < kLayers ? kWidth : 10));
      if (i + 1 < kLayers) layers->push_back(torch::nn::ReLU());
    }
    register_module("layers", layers);
  }
  torch::nn::Sequential layers;
};

at::Tensor loss(const std::shared_ptr<Mlp>& model, const pagoda::Batch& batch) {
  return torch::nn::functional::cross_entropy(model->layers->forward(batch.input), batch.target);
}

std::optional<pagoda::Feeds> make_feeds(std::int64_t) {
  static const pagoda::Batch batch{.input = torch::randn({kBatch, kWidth}),
                                   .target = torch::randint(10, {kBatch}, torch::kLong)};
  pagoda::Feeds feeds;
  for (int i = 0; i < kCards; ++i)
    feeds.push_back({.input = batch.input.clone(), .target = batch.target.clone()});
  return feeds;
}

/// When tower 0 enters the phases of its steps.
struct Phases {
  struct Phase {
    Clock::time_point begin;
    const char* name;
  };
  std::mutex mutex;
  std::vector<Phase> all;

  void enter(const pagoda::TowerJob& job) {
    if (job.tower != 0) return;
    const std::lock_guard lock(mutex);
    all.push_back({Clock::now(), job.phase});
  }
};

/// Towers with a step and data of their own.
struct Training {
  /// Without overlap a step gets plain feeds, which its towers copy, and clips each tower's gradient,
  /// so that none can leave before backward is done; the limit is never reached.
  explicit Training(bool overlap)
      : overlap(overlap),
        towers(pagoda::make_towers(pagoda::sim_devices(), [] { return Mlp(); },
                                   {.placement = pagoda::ParameterPlacement::mirrored})),
        step(towers, pagoda::Sgd{},
             {.max_tower_grad_norm = overlap ? std::nullopt : std::optional<double>(1e9),
              .on_phase = [this](const pagoda::TowerJob& job) { phases.enter(job); }}) {}

  void run_one() {
    const pagoda::Feeds* feeds = data.next();
    if (overlap) {
      step.run(*feeds, loss);
    } else {
      step.run(std::vector<pagoda::Batch>(*feeds), loss);
    }
  }

  double seconds_a_step() {
    const auto begin = Clock::now();
    for (int i = 0; i < kSteps; ++i) run_one();
    return std::chrono::duration<double>(Clock::now() - begin).count() / kSteps;
  }

  /// What tower 0 and its link do in one step.
  void trace() {
    phases.all.clear();
    const auto begin = Clock::now();
    run_one();
    const auto time = [&](Clock::time_point at) {
      return 1e3 * std::chrono::duration<double>(at - begin).count();
    };
    for (const auto& [at, name] : phases.all) std::printf("  %7.1f ms  %s\n", time(at), name);
    for (const auto& sent : pagoda::sim_card(0).last_sent()) {
      if (sent.end < begin || sent.bytes < 10'000) continue;
      std::printf("  %7.1f to %.1f ms  link: %.1f MB %s the card\n", time(sent.begin),
                  time(sent.end), 1e-6 * static_cast<double>(sent.bytes),
                  sent.way == SimCard::Way::into_card ? "into" : "out of");
    }
  }

  bool overlap;
  Phases phases;
  decltype(pagoda::make_towers({}, [] { return Mlp(); })) towers;
  pagoda::SyncStep<std::shared_ptr<Mlp>> step;
  pagoda::FeedStream<pagoda::Batch> data{make_feeds, 1, 3};
};

double bytes_over_the_link() {
  return static_cast<double>(pagoda::sim_card(0).traffic(SimCard::Way::into_card).bytes +
                             pagoda::sim_card(0).traffic(SimCard::Way::out_of_card).bytes);
}

void set_up(std::optional<double> link_speed) {
  pagoda::simulate_devices(
      kCards, {.card = {.slow_down = kSlowDown, .link_speed = link_speed}, .strict = false});
}

/// A link for which copies take half of a step that does everything one by one.
double half_a_step() {
  set_up(std::nullopt);
  Training plain(false);
  plain.seconds_a_step();  // warm
  const double before = bytes_over_the_link();
  const double computing = plain.seconds_a_step();
  double speed = (bytes_over_the_link() - before) / kSteps / computing;
  for (int i = 0; i < 2; ++i) {  // the two ways overlap: so much is hidden even one by one
    set_up(speed);
    speed *= (plain.seconds_a_step() - computing) / computing;
  }
  return speed;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: %s [rounds], at least 1\n", argv[0]);
    return 2;
  }
  const double speed = half_a_step();
  set_up(speed);
  Training with(true);
  Training without(false);
  with.seconds_a_step();
  without.seconds_a_step();
  std::vector<double> ways[3];
  for (int round = 0; round < rounds; ++round) {
    ways[0].push_back(1e3 * without.seconds_a_step());
    ways[1].push_back(1e3 * with.seconds_a_step());
    ways[2].push_back(ways[0].back() / ways[1].back());
  }
  std::printf(
      "link             %8.1f MB/s\none by one       %8.1f ms a step\noverlapping      %8.1f "
      "ms a step\nratio            %8.2f\n",
      speed / 1e6, pagoda::app::median(ways[0]), pagoda::app::median(ways[1]),
      pagoda::app::median(ways[2]));
  for (Training* training : {&without, &with}) {
    std::printf("one step of card 0, %s:\n", training->overlap ? "overlapping" : "one by one");
    training->trace();
  }
  return 0;
}
