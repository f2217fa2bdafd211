#pragma once

// Training with everything that may differ from run to run, and all the bits that come out.

#include <pagoda/optim/updater.h>
#include <pagoda/train/sync_step.h>

#include <vector>

#include "support/machines.h"
#include "support/small_models.h"

namespace pagoda::testing {

/// Everything that a step changes: parameters, buffers, optimizer state, moving average.
inline std::vector<at::Tensor> all_state(const TowerGroup& towers, Step& step) {
  std::vector<at::Tensor> all = snapshot(towers);
  const UpdaterState updater = step.updater().state();
  for (const auto& entry : updater.optimizer) all.push_back(entry.tensor);
  for (const auto& average : updater.averages) all.push_back(average);
  return all;
}

/// A group of noisy models, by default in the placement and with the options that pass through
/// every phase.
class NoisyTraining {
 public:
  NoisyTraining(const Machine& machine, std::uint64_t seed,
                std::function<void(const TowerJob&)> on_phase = nullptr,
                ParameterPlacement placement = ParameterPlacement::host)
      : towers_(make_towers(machine.devices(), [] { return Noisy(); },
                            {.seed = seed, .placement = placement})),
        step_(towers_, Adam{.learning_rate = 0.01},
              {.max_tower_grad_norm = 1,
               .max_grad_norm = 0.5,
               .l2 = 0.01,
               .moving_average = MovingAverage{},
               .on_phase = std::move(on_phase)}) {}

  Towers<Noisy>& towers() { return towers_; }
  SyncStep<Noisy>& step() { return step_; }

  /// One step with two feeds for each tower; the data is that of the step's number.
  template <class Loss = MeanSquare>
  StepResult run_step(Loss loss = {}) {
    const std::vector<std::int64_t> sizes(static_cast<std::size_t>(2 * towers_.size()), 3);
    return step_.run(feeds_of(vector_feed, sizes, static_cast<int>(step_.count())), loss);
  }

  std::vector<at::Tensor> run_steps(int count) {
    std::vector<double> losses;
    for (int i = 0; i < count; ++i) losses.push_back(run_step().loss);
    auto all = state();
    all.push_back(torch::tensor(losses, torch::kDouble));
    return all;
  }

  std::vector<at::Tensor> state() { return all_state(towers_, step_); }

 private:
  Towers<Noisy> towers_;
  SyncStep<Noisy> step_;
};

}  // namespace pagoda::testing
