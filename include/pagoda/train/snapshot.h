#pragma once

#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/train/step.h>

#include <string>

namespace pagoda {

/// A copy of everything: the towers' tensors, the step's optimizer and average, and the state.
/// Threads: the coordinating thread, between steps; what the step has under way is finished first.
/// The copy is the caller's own. Where processes share
/// the state (Step::shares_state), all of them take it together. Fails: UsageError when a torch::optim::Optimizer of the user's
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
