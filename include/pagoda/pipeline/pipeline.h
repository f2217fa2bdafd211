#pragma once

#include <pagoda/pipeline/schedule.h>
#include <pagoda/pipeline/stages.h>
#include <pagoda/tower/tower_error.h>
#include <pagoda/tower/tower_group.h>
#include <pagoda/train/scored.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace pagoda {

class PipelineRun;

/// How micro-batches pass through the stages.
struct PipelineOptions {
  /// The order in which a stage works on them.
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  /// Activation recomputation: a stage keeps only its inputs and computes its activations again
  /// before backward. Less memory, about a third more work. Changes no bit; buffers are not updated
  /// a second time.
  bool checkpoint_activations = false;
};

/// Something failed in a stage: "tower 1 (sim:3), stage 1, backward of micro-batch 2, step 341: out
/// of memory".
class StageError : public TowerError {
 public:
  /// Created by the pipeline; see TowerError.
  StageError(int tower, int stage, int micro_batch, const std::string& device, const char* phase,
             std::int64_t step, std::exception_ptr cause);

  /// Which stage of the tower, from 0.
  int stage() const { return stage_; }
  /// Which of the tower's micro-batches, from 0.
  int micro_batch() const { return micro_batch_; }

 private:
  int stage_;
  int micro_batch_;
};

/// A tower's micro-batches of one step, independent of the types of model and feeds.
struct PipelineWork {
  int micro_batches = 0;                  ///< how many there are
  std::int64_t step = 0;                  ///< for random numbers and messages
  Precision precision = Precision::fp32;  ///< precision of forward and loss; set by Pipeline::run
  /// The weight of each micro-batch: the value that its backward starts from. Empty: forward only,
  /// without gradients.
  std::vector<double> shares = {};
  /// Returns what the first layer takes, on the first stage's device; called in that stage's
  /// thread.
  std::function<Tensors(int micro_batch)> inputs = nullptr;
  /// Scores the outputs of the last layer; called in the thread of the stage that computed them. If
  /// every stage computes that layer, it is called for several micro-batches at once. It may be
  /// called twice for a micro-batch whose activations are recomputed.
  std::function<Scored(int micro_batch, int stage, const Tensors& outputs)> score = nullptr;
  /// Called when a stage enters "feed", "forward" or "backward", in its thread; may throw.
  std::function<void(int stage, const char* phase)> enter = nullptr;
};

/// Drives micro-batches through the stages of a tower: forward, backward, and the tensors passed
/// between stages.
///
/// Each stage has its own autograd graph: its inputs are leaves, whose gradients go back to the
/// previous stage. Random numbers are a function of seed, step, tower, micro-batch and layer:
/// neither the cut nor the schedule nor timing changes them.
///
/// Threads: `run` in the thread of its tower, for all towers at once; the rest on the coordinating
/// thread.
/// Shares: replicas and stages.
/// Fails: see `explain`.
class Pipeline {
 public:
  Pipeline(std::shared_ptr<const Replicas> replicas, std::shared_ptr<Stages> stages,
           const PipelineOptions& options = {});

  /// Computes a tower's micro-batches, forward and backward, and returns the score of each.
  std::vector<FeedScore> run(int tower, PipelineWork work);

  /// Tells the simulated cards of stages 1, 2, … which step begins, for
  /// SimCardOptions::fail_at_step; the group tells those of stage 0.
  void note_step(std::int64_t step) const;

  /// Call it in the handler of what TowerGroup::run threw. Rethrows it with the stage, as a
  /// StageError (a UsageError stays a UsageError), or as a DeviceError that names the late stages;
  /// stages that wait for others then end.
  [[noreturn]] void explain(const TowerGroup& towers);

  /// The stages that it drives.
  const std::shared_ptr<Stages>& stages() const { return stages_; }

 private:
  const std::shared_ptr<const Replicas> replicas_;
  const std::shared_ptr<Stages> stages_;
  const PipelineOptions options_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<PipelineRun>> runs_;  // by tower: the current step; guarded by mutex_
};

}  // namespace pagoda
