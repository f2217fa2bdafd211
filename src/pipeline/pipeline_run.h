#pragma once

#include <pagoda/pipeline/pipeline.h>

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "base/random_streams.h"
#include "pipeline/boundary.h"
#include "pipeline/mailbox.h"

namespace pagoda {

/// Where a stage failed, and why.
struct StageFailure : Error {
  StageFailure(int failed_stage, int failed_micro_batch, const char* failed_phase,
               std::exception_ptr thrown)
      : Error("a stage failed"),
        stage(failed_stage),
        micro_batch(failed_micro_batch),
        phase(failed_phase),
        cause(std::move(thrown)) {}

  int stage;
  int micro_batch;
  const char* phase;
  std::exception_ptr cause;
};

/// One step of one tower's pipeline.
///
/// Threads: run_stage(s) in the thread of stage s, all at once; `finish` after all of them; `stop`
/// and `late_stages` in any.
class PipelineRun {
 public:
  PipelineRun(std::shared_ptr<const StagedReplica> replica, PipelineWork work,
              const PipelineOptions& options, RandomStreams streams);

  /// Everything that the stage has to do in the step. Does not throw: `finish` does.
  void run_stage(int stage);

  /// Ends the waits of all stages.
  void stop();

  /// The micro-batches' scores. Fails: StageFailure of the first stage that failed.
  std::vector<FeedScore> finish();

  /// Stages that have not come to their end, without those that wait for another.
  std::vector<int> late_stages() const;

 private:
  /// What a stage keeps of a micro-batch until it comes back.
  struct Kept {
    Tensors inputs;
    Tensors outputs;  // the loss where the stage scores; empty: to be computed again
  };
  /// Stage thread only, but for the atomics.
  struct Progress {
    std::vector<Kept> kept;  // by micro-batch
    int micro_batch = 0;
    const char* phase = "forward";
    std::exception_ptr error;
    std::atomic<bool> waits = false;
    std::atomic<bool> done = false;
  };

  int stages() const { return static_cast<int>(replica_->stages.size()); }
  bool is_last(int stage) const { return stage + 1 == stages(); }
  bool trains() const { return !work_.shares.empty(); }
  /// Whether every stage computes the output layer.
  bool splits_output() const { return !replica_->outputs.empty(); }
  /// Whether the output layer is part of what this stage computes for every micro-batch.
  bool scores(int stage) const { return is_last(stage) && !splits_output(); }

  std::vector<StageAction> actions(int stage) const;
  void enter(int stage, const char* phase);
  void forward(int stage, int micro_batch, bool recompute);
  void output(int stage, int micro_batch);
  void backward(int stage, int micro_batch);
  void collect_outputs(int stage);
  Tensors compute(int stage, int micro_batch, Tensors x) const;
  Tensors compute_again(int stage, int micro_batch, const Tensors& inputs);
  at::Tensor scored(int stage, int micro_batch, const Tensors& outputs);
  at::Tensor share_of(int micro_batch, const at::Tensor& loss) const;
  /// Where a stage sends a micro-batch, and where its gradients come from.
  Mailbox<Parcel>& onward(int stage, int micro_batch);
  Mailbox<Tensors>& homeward(int stage, int micro_batch);
  template <class Letter>
  Letter receive(int stage, Mailbox<Letter>& mailbox);

  // Constant after construction.
  const std::shared_ptr<const StagedReplica> replica_;
  const PipelineWork work_;
  const PipelineOptions options_;
  const RandomStreams streams_;

  std::vector<Mailbox<Parcel>> activations_;        // from stage s to s + 1
  std::vector<Mailbox<Tensors>> gradients_;         // from stage s + 1 to s
  std::vector<Mailbox<Parcel>> output_inputs_;      // from the last stage to output layer s
  std::vector<Mailbox<Tensors>> output_gradients_;  // and back
  std::vector<Mailbox<Tensors>> output_sums_;       // of the parameters of output layer s
  std::vector<Progress> progress_;                  // by stage
  std::vector<FeedScore> scores_;  // by micro-batch; thread of the stage that computes its loss
};

}  // namespace pagoda
