#pragma once

#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/train/step.h>

#include <string>

namespace pagoda {

/// A copy of everything that a run resumes from: the towers' tensors, the step's optimizer state
/// and moving average, and the run state.
///
/// Threads: the coordinating thread, between steps; what the step has under way is finished first.
/// Where processes share the state (Step::shares_state), all of them call it together.
/// Owns: the caller owns the copy.
/// Fails: UsageError when a torch::optim::Optimizer of the user's cannot be saved, while
/// AveragedParameters stand in for the parameters, or while another step is at work.
Checkpoint snapshot(const TowerGroup& towers, Step& step, const RunState& state,
                    std::string config);

/// Puts a checkpoint back into towers and step, and returns its run state. The number of towers may
/// differ from that of the checkpoint.
///
/// Fails: UsageError as `snapshot`, since what cannot be saved cannot be loaded either; DataError
/// that lists where the checkpoint differs from the model or the optimizer. Nothing is changed
/// then.
RunState restore(const Checkpoint& checkpoint, TowerGroup& towers, Step& step);

}  // namespace pagoda
