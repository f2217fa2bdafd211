#include "lenet5_bench.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <torch/nn/functional/loss.h>

#include "medians.h"

namespace pagoda::app {
namespace {

constexpr std::size_t kDifferentSteps = 4;
constexpr std::int64_t kWarmUpSteps = 2;  // fill the caches again after another round

at::Tensor loss(LeNet5& model, const Batch& batch) {
  return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
}

std::vector<std::vector<Batch>> random_feeds(std::size_t towers, std::int64_t batch_size) {
  std::vector<std::vector<Batch>> steps(kDifferentSteps);
  for (auto& feeds : steps) {
    for (std::size_t tower = 0; tower < towers; ++tower) {
      feeds.push_back({.input = at::randn({batch_size, 3, 28, 28}),
                       .target = at::randint(10, {batch_size}, at::kLong)});
    }
  }
  return steps;
}

/// The same samples as one feed.
std::vector<std::vector<Batch>> joined(const std::vector<std::vector<Batch>>& steps) {
  std::vector<std::vector<Batch>> result;
  for (const auto& feeds : steps) {
    std::vector<at::Tensor> inputs;
    std::vector<at::Tensor> targets;
    for (const auto& feed : feeds) {
      inputs.push_back(feed.input);
      targets.push_back(feed.target);
    }
    result.push_back({{.input = at::cat(inputs), .target = at::cat(targets)}});
  }
  return result;
}

/// One CPU device with the cores of all; cards cannot be joined, so the first stands for them.
std::vector<Device> all_cores(const std::vector<Device>& devices) {
  Device one = devices.front();
  for (std::size_t i = 1; i < devices.size(); ++i) {
    one.cores.insert(one.cores.end(), devices[i].cores.begin(), devices[i].cores.end());
  }
  return {one};
}

}  // namespace

std::optional<BenchMode> bench_mode(std::string_view name) {
  if (name == "full") return BenchMode::full;
  if (name == "unsynchronised") return BenchMode::unsynchronised;
  if (name == "async") return BenchMode::async;
  if (name == "threads") return BenchMode::threads;
  return std::nullopt;
}

LeNet5Bench::LeNet5Bench(const std::vector<Device>& devices, const BenchOptions& options)
    : options_(options),
      towers_(make_towers(devices, [] { return LeNet5(); }, {.placement = options.placement})),
      step_(towers_, Adam{}),
      feeds_(random_feeds(devices.size(), options.batch_size)),
      async_towers_(make_towers(devices, [] { return LeNet5(); }, {.placement = Placement::host})),
      async_step_(async_towers_, Adam{}),
      one_(make_towers(all_cores(devices), [] { return LeNet5(); })),
      one_step_(one_, Adam{}),
      one_feeds_(joined(feeds_)) {}

double LeNet5Bench::run(BenchMode mode) {
  run_steps(mode, kWarmUpSteps);
  return run_steps(mode, options_.steps);
}

double LeNet5Bench::run_steps(BenchMode mode, std::int64_t steps) {
  if (mode == BenchMode::full) return run_synchronous(step_, feeds_, steps);
  if (mode == BenchMode::threads) return run_synchronous(one_step_, one_feeds_, steps);
  if (mode == BenchMode::async) return run_asynchronous(steps);
  return run_unsynchronised(steps);
}

double LeNet5Bench::run_synchronous(SyncStep<LeNet5>& step,
                                    const std::vector<std::vector<Batch>>& feeds,
                                    std::int64_t steps) {
  double samples = 0;
  const double seconds = seconds_of([&] {
    for (std::int64_t i = 0; i < steps; ++i) {
      samples += step.run(feeds[static_cast<std::size_t>(i) % feeds.size()], loss).weight;
    }
  });
  return samples / seconds;
}

double LeNet5Bench::run_unsynchronised(std::int64_t steps) {
  const double seconds = seconds_of([&] {
    towers_.run({.name = "unsynchronised"}, [&](TowerJob& job) {
      for (std::int64_t i = 0; i < steps; ++i) {
        const Batch& feed = feeds_[static_cast<std::size_t>(i) % feeds_.size()]
                                  [static_cast<std::size_t>(job.tower)];
        const Batch batch = feed.with_tensors(
            [&](const at::Tensor& tensor) { return towers_.on_tower(tensor, job.tower); });
        const at::Tensor value = loss(towers_.model(job.tower), batch);
        value.backward();
        value.item<double>();
        for (const auto& entry : towers_.table(job.tower).trainable)
          entry.tensor.mutable_grad().reset();
      }
    });
  });
  return static_cast<double>(steps * options_.batch_size * towers_.size()) / seconds;
}

double LeNet5Bench::run_asynchronous(std::int64_t steps) {
  double samples = 0;
  const double seconds = seconds_of([&] {
    for (std::int64_t i = 0; i < steps; ++i) {
      const auto& feeds = feeds_[static_cast<std::size_t>(i) % feeds_.size()];
      samples += async_step_.run(feeds, loss).weight;
    }
    async_step_.finish();
  });
  return samples / seconds;
}

}  // namespace pagoda::app
