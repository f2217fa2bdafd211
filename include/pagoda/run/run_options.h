#pragma once

#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/data/batches.h>
#include <pagoda/run/device_choice.h>
#include <pagoda/run/interval.h>
#include <pagoda/run/optimizer_choice.h>
#include <pagoda/run/stage_choice.h>
#include <pagoda/run/world_choice.h>
#include <pagoda/terminal/console.h>
#include <pagoda/train/async_step.h>
#include <pagoda/train/stalled_rate.h>
#include <pagoda/train/step_options.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// When parameters are updated.
enum class UpdateKind {
  sync,   ///< once for all towers
  async,  ///< each tower as soon as its gradient is ready
};

/// All options of a run that do not concern its model: how to train, when to stop, what to write.
/// The flags of `run_program` are named after the fields.
///
/// Example:
///     RunOptions options{.epochs = 20, .out = "runs/spiral"};
///     options.optimizer.lr = 3e-3;
struct RunOptions {
  std::string name = "model";  ///< what the log and the run's directory call the model

  // Where it computes.
  DeviceChoice devices = {};  ///< which devices, and how they are used
  /// Where parameters live; unset: shared, or host with cards or asynchronous updates.
  std::optional<ParameterPlacement> parameters = std::nullopt;
  Precision precision = Precision::fp32;  ///< what forward and loss compute in
  /// Precision of fp32 matrix products on cards; set for the whole process.
  MatmulPrecision matmul = MatmulPrecision::highest;
  UpdateKind update = UpdateKind::sync;  ///< when parameters are updated
  /// The most updates between a tower's read of the parameters and its own update; unset: no limit.
  std::optional<std::int64_t> max_staleness = std::nullopt;
  StageChoice stages = {};     ///< how the model is cut into stages, if it is
  WorldChoice processes = {};  ///< which processes train together
  /// The processes of this run, as `join_processes` finds them; null: this one is alone.
  std::shared_ptr<World> world = nullptr;
  WireType wire = WireType::fp32;  ///< type in which gradients travel between processes or cards
  LocalSteps local_steps = {};     ///< how often processes meet

  // What it starts with.
  /// File of weights that a new run starts with, as load_state_dict reads it, for fine-tuning; a
  /// run that resumes has its checkpoint's. Empty: initial values drawn from the seed.
  std::string init_from = {};
  /// Takes from it only what model and file have in common; the rest of the model has initial
  /// values.
  bool init_partially = false;
  std::string init_remove_prefix = {};  ///< removed from the file's names, such as "module."
  std::string init_add_prefix = {};     ///< put before the file's names, such as "backbone."

  // How it trains.
  OptimizerChoice optimizer = {};  ///< optimizer, schedule, clipping, moving average
  /// Samples per tower and feed; with stages, this is divided into micro-batches.
  std::int64_t batch_size = BatchesOptions{}.batch_size;
  /// Samples of all towers of all processes in one step, instead of `batch_size`.
  std::optional<std::int64_t> global_batch_size = std::nullopt;
  int accumulate = BatchesOptions{}.feeds_per_tower;  ///< feeds of each tower before an update
  /// Drops the rest of an epoch that does not fill all feeds of a step.
  bool drop_last = false;
  std::int64_t overfit_batches = 0;  ///< trains only on the samples of this many steps; 0: on all
  NonFinite on_non_finite = NonFinite::stop;  ///< what to do when a loss is NaN or infinite
  LossScale loss_scale = {};                  ///< for fp16
  std::uint64_t seed = 1;  ///< for initial values, dropout, distortions and order
  int loader_threads = BatchesOptions{}.loader_threads;  ///< threads that make batches in advance

  // When it ends.
  std::int64_t epochs = 5;                               ///< passes over the training data
  std::optional<std::int64_t> max_steps = std::nullopt;  ///< steps of the run, instead of epochs
  /// Time after which this call saves and ends; unset: no limit.
  std::optional<std::chrono::duration<double>> max_time = std::nullopt;
  /// Ends the run after this many validations without improvement; 0: never.
  std::int64_t early_stopping = 0;
  bool dry_run = false;  ///< one step of everything; writes nothing

  // How it is validated.
  Interval valid_every = every_epochs(1);  ///< how often to validate; 0: at the end only
  /// Multiplies the learning rate whenever the validation loss stalls; 1: leaves it alone.
  double lr_stall_factor = 1;
  /// Validations in a row without a lower loss that count as a stall.
  std::int64_t lr_stall_tests = StalledRate{}.validations;

  // What it leaves behind.
  std::string out = {};                    ///< directory of the run; empty: none
  bool overwrite = false;                  ///< discard the run in `out` and start again
  Interval save_every = every_epochs(1);   ///< how often to save; 0: at the end only
  int keep_last = 3;                       ///< newest checkpoints to keep besides the best
  bool histograms = false;                 ///< write histograms of the parameters for TensorBoard
  bool log_placement = false;              ///< log each operator once, with its devices; slower
  std::int64_t log_every = 20;             ///< steps between two log lines
  LogFormat log_format = LogFormat::text;  ///< format of the log lines on stderr
  std::string trace = {};                  ///< file for a Chrome trace; empty: none
  StepRange trace_steps = {.first = 11, .last = 15};  ///< steps in the trace

  /// What is kept with the run and must be the same when it resumes, as TOML. Empty: the
  /// `config_text` of these options, and nothing about the model itself.
  std::string config = {};
  /// The same with the default of every option, for runs that were started before an option
  /// existed.
  std::string config_defaults = {};
  std::string command_line = {};  ///< how the process was started, for the log
  /// Appended to messages about the run's directory: a program names its flags here.
  std::string directory_hint = {};
};

/// The options that must be the same when a run resumes, as TOML: one `name = value` per line.
std::string config_text(const RunOptions& options);

/// The names of the options that may change: where a run computes, how it is watched and when it
/// ends.
const std::vector<std::string>& changeable_options();

/// Finds the processes that `processes` or a launcher describes, and sets `world` and this
/// process's share of the machine. Does nothing for a process that is alone.
/// Fails: UsageError; WorldError when the others do not join.
void join_processes(RunOptions& options);

/// The options, if they are valid for a run. Processes that train together call it together.
/// Fails: UsageError for a number out of range, and at every process if not all of them would end,
/// validate and save after the same steps, or if only some would spread their parameters: they
/// would wait for each other in vain.
RunOptions checked(RunOptions options);

/// Samples in one feed of one tower. Fails: UsageError when the batch cannot be divided among the
/// towers and their micro-batches.
std::int64_t feed_size(const RunOptions& options, int towers);

/// Feeds of each tower in one step, micro-batches included.
int feeds_per_tower(const RunOptions& options);

/// Steps of the whole run.
std::int64_t run_steps(const RunOptions& options, std::int64_t steps_per_epoch);

/// Seed, precision and placement of the towers. With asynchronous updates, parameters live on the
/// host unless the options place them.
TowerOptions tower_options(const RunOptions& options);

/// The part of the options that concerns a step. `l2` and weight decay then apply to weights only,
/// and the norm of the gradient is measured.
StepOptions step_options(const RunOptions& options);

/// How `init_from` is loaded. Fails: UsageError if another `init_` option is set without it.
LoadOptions init_options(const RunOptions& options);

/// When to lower the learning rate because the validation loss stalls; nothing for a factor of 1.
/// Fails: UsageError for a value out of range.
std::optional<StalledRate> stalled_rate(const RunOptions& options);

/// The options of asynchronous updates; nothing for synchronous ones. Fails: UsageError for a bound
/// on staleness with synchronous updates, and for stages with asynchronous ones.
std::optional<AsyncOptions> async_options(const RunOptions& options);

}  // namespace pagoda
