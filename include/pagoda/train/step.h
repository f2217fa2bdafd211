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

/// What all kinds of step have in common, for the code around them: checkpoints, averaged
/// parameters, loops. SyncStep, AsyncStep and PipelineStep add `run`, which knows the types of
/// model and feeds.
///
/// Threads: the coordinating thread of the towers.
/// Owns: the optimizer's state and the moving average. Borrows: the towers, and a
/// torch::optim::Optimizer if there is one; both must outlive it.
class Step {
 public:
  virtual ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Steps done so far, including skipped ones.
  std::int64_t count() const;
  /// Sets the number of steps done, after a checkpoint was loaded. Fails: UsageError for a negative
  /// number.
  void set_count(std::int64_t count);

  /// The factor that multiplies the learning rate of the optimizer's schedule.
  double rate_factor() const;
  /// Sets that factor, from the next step on. A LibTorch optimizer follows it only if
  /// StepOptions::learning_rate is set. Fails: UsageError for a factor that is negative or not
  /// finite.
  void set_rate_factor(double factor);

  /// The loss scale of the next step, for checkpoints. It has no scale unless the towers compute in
  /// fp16.
  LossScaleState loss_scale() const;
  /// Sets the loss scale, after a checkpoint was loaded. Does nothing if this step scales no loss,
  /// or if `state` has no scale.
  void set_loss_scale(const LossScaleState& state);

  /// Replaces StepOptions::parameter_rules from the next step on, for example to freeze or unfreeze
  /// parameters during a run. What is under way is finished first. Rules are not part of a
  /// checkpoint: after loading one, set those that belong to its step.
  /// Fails: UsageError, as in the constructor; nothing is changed then.
  void set_parameter_rules(const std::vector<ParameterRule>& rules);

  /// The optimizer's state and the moving average, for checkpoints and evaluation.
  Updater& updater();

  /// Waits for what is still under way, so that all towers are equal. Call it before parameters,
  /// buffers or state are read or written from outside; AveragedParameters, `snapshot` and
  /// `restore` do so themselves. After a synchronous step there is nothing to wait for, unless
  /// processes train on their own between meetings (StepOptions::local_steps): then all of them
  /// call it together, and meet.
  void finish();

  /// The weight of the feeds that other processes have computed between meetings
  /// (StepOptions::local_steps), up to the last meeting and since the last call of this function. A
  /// step's result counts only this process's feeds.
  double take_others_weight();

  /// Whether the state that a checkpoint needs is distributed over several processes. All of them
  /// then call `snapshot` together, between the same steps, and rank 0's is complete.
  bool shares_state() const;

  /// What the step keeps for its exchanges with other processes, for checkpoints. All processes
  /// call it together; rank 0's is complete.
  std::vector<NamedTensor> exchange_state();
  /// Restores it, after a checkpoint was loaded.
  void load_exchange(const std::vector<NamedTensor>& state);

  /// Copies what was loaded into the master parameters and into tower 0's buffers to all towers.
  void refresh_towers();

 protected:
  explicit Step(std::shared_ptr<StepEngine> engine);

  /// A step in which every tower computes all its feeds at once.
  StepResult run_towers(std::vector<detail::FeedInfo> feeds, detail::Compute compute);

  /// The same, one feed after another: forward, then backward.
  StepResult run_feeds(std::vector<detail::FeedInfo> feeds, detail::Forward forward);

 private:
  void check_turn() const;

  std::shared_ptr<StepEngine> engine_;  // its type is private to the sources
};

}  // namespace pagoda
