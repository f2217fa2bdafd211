#pragma once

#include <pagoda/checkpoint/run_state.h>
#include <pagoda/optim/any_optimizer.h>
#include <pagoda/params/parameter_table.h>
#include <pagoda/train/step_feeds.h>
#include <pagoda/train/step_options.h>
#include <pagoda/train/step_result.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace pagoda {

class StepEngine;
class TowerGroup;
class Updater;

/// What all ways to step have in common for what stands around them: checkpoints, averaged
/// parameters, loops. SyncStep, AsyncStep and PipelineStep add `run`, which knows the types of model
/// and feeds.
///
/// Threads: the coordinating thread of the towers.
/// Owns: the optimizer's state and the moving average. Borrows the towers, which must outlive it.
class Step {
 public:
  virtual ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Steps done so far, skipped ones included. Set it after loading a checkpoint.
  /// Fails: UsageError for a negative number.
  std::int64_t count() const;
  /// Sets the number of steps done, after a checkpoint was loaded.
  void set_count(std::int64_t count);

  /// What the learning rate of the optimizer's schedule is multiplied by from the next step on. An
  /// optimizer of LibTorch follows only where StepOptions::learning_rate is set.
  /// Fails: UsageError for a factor that is negative or not finite.
  double rate_factor() const;
  /// Sets that factor.
  void set_rate_factor(double factor);

  /// The loss scale of the next step, for checkpoints; nothing is scaled but with fp16, and a step that
  /// scales nothing, or is given no scale, stays as it is.
  LossScaleState loss_scale() const;
  /// Sets it, after a checkpoint was loaded.
  void set_loss_scale(const LossScaleState& state);

  /// Other rules than StepOptions::parameter_rules from the next step on: to freeze or thaw
  /// parameters in the middle of a run, say. What is under way is finished first. Rules are not part
  /// of a checkpoint: set those of its step after loading one.
  /// Fails: UsageError as the construction does; nothing changes then.
  void set_parameter_rules(const std::vector<ParameterRule>& rules);

  /// The optimizer's state and the moving average, for checkpoints and evaluation.
  Updater& updater();

  /// Waits for what is still under way, so that all towers are equal: before parameters, buffers or
  /// state are read or written from outside. Evaluation with averaged parameters and checkpoints do
  /// it themselves. Nothing to do after a synchronous step, but where processes train on their own in
  /// between (StepOptions::local_steps): all of them call it together, and meet.
  void finish();

  /// The weight of what other processes have done between two meetings (StepOptions::local_steps),
  /// known since the last one and not asked for yet: a step's own result counts this process's feeds.
  double take_others_weight();

  /// Whether what a checkpoint needs lies at several processes: then `snapshot` is taken by all of
  /// them together, between the same steps, and complete at rank 0.
  bool shares_state() const;

  /// What it keeps of exchanges with other processes, for checkpoints.
  std::vector<NamedTensor> exchange_state();
  /// Puts that back, after a checkpoint was loaded.
  void load_exchange(const std::vector<NamedTensor>& state);

  /// Spreads what was loaded into the master parameters and into tower 0's buffers to all towers.
  void refresh_towers();

 protected:
  explicit Step(std::shared_ptr<StepEngine> engine);

  /// A step in which every tower computes all its feeds at once.
  StepResult run_towers(std::vector<detail::FeedInfo> feeds, detail::Compute compute);

  /// The same, one feed after the other: forward, then backward.
  StepResult run_feeds(std::vector<detail::FeedInfo> feeds, detail::Forward forward);

 private:
  void check_turn() const;

  std::shared_ptr<StepEngine> engine_;  // its type is for sources only
};

}  // namespace pagoda
