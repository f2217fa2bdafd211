#pragma once

#include <vector>

namespace pagoda {

/// The order in which a stage works on its micro-batches. Both schedules give the same bits.
enum class PipelineSchedule {
  /// All forward, then all backward (Huang et al., 2019): every stage keeps the activations of all
  /// micro-batches.
  gpipe,
  /// Each stage turns to backward as soon as it can, then alternates (Narayanan et al., 2019):
  /// stage s (from 0) of S keeps the activations of at most S - s micro-batches, one more if the
  /// output layer is on every stage.
  one_forward_one_backward,
};

/// Where the output layer (the model's last layer and the loss) is computed.
enum class OutputPlace {
  last_stage,
  /// On all stages, which take the micro-batches in turn: data parallelism for the layer that costs
  /// most if the vocabulary is large (Ono et al., 2019). Each device has a copy of the layer.
  every_stage,
};

/// The stage that computes the output layer of a micro-batch.
int output_stage(OutputPlace place, int stages, int micro_batch);

/// One micro-batch forward or backward through one stage, or forward and backward through the
/// output layer if that is on every stage.
struct StageAction {
  /// What is computed.
  enum class Kind { forward, output, backward };
  Kind kind;        ///< what is computed
  int micro_batch;  ///< for which micro-batch

  bool operator==(const StageAction&) const = default;
};

/// One stage of a pipeline, and the work that it has.
struct StagePart {
  int stage = 0;                                 ///< number of the stage, from 0
  int stages = 1;                                ///< stages of the pipeline
  int micro_batches = 0;                         ///< micro-batches of a step
  OutputPlace output = OutputPlace::last_stage;  ///< where the output layer is
};

/// What a stage does in one step, in order. Each kind of action takes the micro-batches in order,
/// so that a layer's gradients are summed in the same order whatever the schedule.
std::vector<StageAction> stage_actions(PipelineSchedule schedule, const StagePart& part);

/// The same without backward, for evaluation.
std::vector<StageAction> forward_actions(const StagePart& part);

}  // namespace pagoda
