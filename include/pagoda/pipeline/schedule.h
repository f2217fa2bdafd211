#pragma once

#include <vector>

namespace pagoda {

/// In which order a stage works on its micro-batches. Both give the same bits.
enum class PipelineSchedule {
  /// All forward, then all backward (Huang et al., 2019): every stage keeps the activations of all
  /// micro-batches.
  gpipe,
  /// Each stage turns to backward as soon as it can, then alternates (Narayanan et al., 2019):
  /// stage
  /// s of S keeps the activations of at most S - s micro-batches.
  one_forward_one_backward,
};

/// One micro-batch forward or backward through one stage.
struct StageAction {
  enum class Kind { forward, backward };
  Kind kind;
  int micro_batch;

  bool operator==(const StageAction&) const = default;
};

/// What a stage does in one step, in order. Forward and backward each take the micro-batches in
/// their order, so that gradients are summed in the same order whatever the schedule.
std::vector<StageAction> stage_actions(PipelineSchedule schedule, int stage, int stages,
                                       int micro_batches);

/// Forward only, for evaluation.
std::vector<StageAction> forward_actions(int micro_batches);

}  // namespace pagoda
