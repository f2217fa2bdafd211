#pragma once

#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/data/feed_plan.h>
#include <pagoda/train/step.h>

#include <cstdint>
#include <optional>
#include <string>

namespace pagoda {

/// What must survive a restart besides the tensors: plain data in one place.
struct RunState {
  std::int64_t step = 0;                      ///< steps done
  DataPosition position = {};                 ///< where the run stands in its data
  double samples = 0;                         ///< samples done in all
  std::optional<double> best = std::nullopt;  ///< best value of the watched metric
  std::int64_t best_step = 0;                 ///< step it belongs to
  std::int64_t stale_validations = 0;         ///< validations since then
  /// For a learning rate that falls when the loss stalls, see lower_stalled_rate.
  std::optional<double> lowest_loss = std::nullopt;
  std::int64_t stalled_validations = 0;  ///< since then, or since the rate was lowered
  double rate_factor = 1;                ///< of the schedule's learning rate
};

/// A copy of everything: the towers' tensors, the step's optimizer and average, and the state.
/// Threads: the coordinating thread, between steps; what the step has under way is finished first.
/// The copy is the caller's own. Fails: UsageError when a torch::optim::Optimizer of the user's
/// cannot be saved, while AveragedParameters stand in for the parameters, or while another step is
/// at work.
Checkpoint snapshot(const TowerGroup& towers, Step& step, const RunState& state,
                    std::string config);

/// Puts a checkpoint back into towers and step, and gives its state. The number of towers may be
/// another. Fails: UsageError as `snapshot`: what cannot be saved cannot be loaded;
/// DataError that lists what the model or the optimizer and the checkpoint differ in; nothing is
/// changed then.
RunState restore(const Checkpoint& checkpoint, TowerGroup& towers, Step& step);

}  // namespace pagoda
