// Builds, uses and destroys everything that a training run is made of, again and again in one
// process: towers of every kind and placement, steps, loaders, stores of checkpoints.
//
//     lifetimes SECONDS
//
// After each round, when all of it is gone, a line on stdout: the round's number, kilobytes of
// memory, open descriptors and threads. soak.py sees that they stay the same.

#include <pagoda/base/temporary_directory.h>
#include <pagoda/pagoda.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "support/formula_data.h"
#include "support/resident_memory.h"
#include "support/small_models.h"
#include "support/staged_models.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace {

using testing::BatchInput;
using testing::DeepNoisy;
using testing::MeanSquare;
using testing::Noisy;
using testing::StagedMeanSquare;

constexpr ParameterPlacement kOnCpus[] = {ParameterPlacement::shared, ParameterPlacement::mirrored,
                                          ParameterPlacement::host, ParameterPlacement::spread};
constexpr ParameterPlacement kOnCards[] = {ParameterPlacement::mirrored, ParameterPlacement::host,
                                           ParameterPlacement::spread};

TensorDataset samples() {
  const Batch all = testing::vector_feed(0, 60);
  return {all.input, all.target};
}

/// An epoch of steps with a checkpoint after each, then what a resumed run does.
template <class Group, class RunStep>
void live(Group& towers, Step& step, RunStep run_step) {
  const TemporaryDirectory scratch("lifetimes");
  const TensorDataset data = samples();
  RunState state;
  {
    CheckpointStore store(scratch.path(), {.keep_last = 2});
    for (auto& feeds : batches(data, towers.size(), {.batch_size = 5, .loader_threads = 2})) {
      run_step(feeds);
      ++state.step;
      store.save(snapshot(towers, step, state, ""));
    }
    store.wait();
  }
  step.finish();
  CheckpointStore store(scratch.path());
  restore(*store.recover([](const std::string&) {}), towers, step);
}

void live_in_step(const std::vector<Device>& devices, ParameterPlacement placement) {
  auto towers = make_towers(devices, [] { return Noisy(); }, {.seed = 1, .placement = placement});
  SyncStep step(towers, Adam{.learning_rate = 0.01}, {.moving_average = MovingAverage{}});
  live(towers, step, [&](const Feeds& feeds) { step.run(feeds, MeanSquare{}); });
}

void live_without_waiting(const std::vector<Device>& devices) {
  auto towers = make_towers(devices, [] { return Noisy(); },
                            {.seed = 1, .placement = ParameterPlacement::host});
  AsyncStep step(towers, Sgd{.learning_rate = 0.01});
  live(towers, step, [&](const Feeds& feeds) { step.run(feeds, MeanSquare{}); });
}

void live_in_stages(const std::vector<Device>& devices) {
  auto towers = make_staged_towers(devices, [] { return DeepNoisy(); }, {.stages = 2}, {.seed = 1});
  PipelineStep step(towers, Sgd{.learning_rate = 0.01, .momentum = 0.9});
  live(towers, step,
       [&](const Feeds& feeds) { step.run(feeds, BatchInput{}, StagedMeanSquare{}); });
}

void live_all() {
  const auto cpus = testing::cpu_devices(3);
  const auto cards = sim_devices();
  for (const auto placement : kOnCpus) live_in_step(cpus, placement);
  for (const auto placement : kOnCards) live_in_step(cards, placement);
  for (const auto& devices : {cpus, cards}) live_without_waiting(devices);
  live_in_stages(testing::cpu_devices(4));
  live_in_stages(cards);
}

std::ptrdiff_t entries(const char* directory) {
  return std::distance(std::filesystem::directory_iterator(directory), {});
}

}  // namespace
}  // namespace pagoda

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> length(argc > 1 ? std::atof(argv[1]) : 1);
  const auto begin = Clock::now();
  pagoda::simulate_devices(4);
  for (int round = 1; Clock::now() - begin < length; ++round) {
    pagoda::live_all();
    std::printf("%d %lld %td %td\n", round,
                static_cast<long long>(pagoda::testing::resident_bytes() / 1024),
                pagoda::entries("/proc/self/fd"), pagoda::entries("/proc/self/task"));
    std::fflush(stdout);
  }
  return 0;
}
