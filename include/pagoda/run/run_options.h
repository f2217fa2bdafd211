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

/// Everything that a whole run can be told about itself that is not a matter of its model: how to
/// train, when to stop, what to write. The flags of `run_program` have the names of the fields.
///
/// Example:
///     RunOptions options{.epochs = 20, .out = "runs/spiral"};
///     options.optimizer.lr = 3e-3;
struct RunOptions {
  std::string name = "model";  ///< what the log and the run's directory call the model

  // Where it computes.
  DeviceChoice devices = {};  ///< which devices, and what of them
  /// Where parameters live; unset: shared, or host with cards or asynchronous updates.
  std::optional<ParameterPlacement> parameters = std::nullopt;
  Precision precision = Precision::fp32;  ///< of forward and loss
  /// Of fp32 products on cards; set for the whole process.
  MatmulPrecision matmul = MatmulPrecision::highest;
  UpdateKind update = UpdateKind::sync;  ///< when parameters are updated
  /// Most updates between a tower's read of the parameters and its own; unset: no bound.
  std::optional<std::int64_t> max_staleness = std::nullopt;
  StageChoice stages = {};     ///< how the model is cut, where it is
  WorldChoice processes = {};  ///< which processes train together
  /// The other processes of this run; null: `join_processes` has found none.
  std::shared_ptr<World> world = nullptr;
  WireType wire = WireType::fp32;  ///< what gradients travel in between processes or cards
  LocalSteps local_steps = {};     ///< how often processes meet

  // What it begins with.
  /// File of weights that a new run begins with, as load_state_dict takes it, for fine-tuning; a run
  /// that resumes has its checkpoint's. Empty: initial values by the seed.
  std::string init_from = {};
  /// Only what model and file both have is taken from it; the rest has its initial values.
  bool init_partially = false;
  std::string init_remove_prefix = {};  ///< taken off the file's names, such as "module."
  std::string init_add_prefix = {};     ///< put before the file's names, such as "backbone."

  // How it trains.
  OptimizerChoice optimizer = {};  ///< optimizer, schedule, clipping, moving average
  std::int64_t batch_size = BatchesOptions{}.batch_size;  ///< samples for each tower and feed
  /// Samples of all towers in one step, in place of `batch_size`.
  std::optional<std::int64_t> global_batch_size = std::nullopt;
  int accumulate = BatchesOptions{}.feeds_per_tower;  ///< feeds of each tower before an update
  /// Leaves out what is left of an epoch after the last step in which all feeds are full.
  bool drop_last = false;
  std::int64_t overfit_batches = 0;  ///< train on the samples of so many steps only; 0: on all
  NonFinite on_non_finite = NonFinite::stop;  ///< what becomes of a loss that is nan or infinite
  LossScale loss_scale = {};                  ///< in fp16
  std::uint64_t seed = 1;                     ///< of initial values, dropout, distortions and order
  int loader_threads = BatchesOptions{}.loader_threads;  ///< threads that make batches ahead

  // When it ends.
  std::int64_t epochs = 5;                               ///< passes over the training data
  std::optional<std::int64_t> max_steps = std::nullopt;  ///< steps of the run, in place of epochs
  /// After which this call saves and ends; unset: no limit.
  std::optional<std::chrono::duration<double>> max_time = std::nullopt;
  std::int64_t early_stopping = 0;  ///< ends after so many validations without a gain; 0: never
  bool dry_run = false;             ///< one step of everything, nothing written

  // How it is validated.
  Interval valid_every = every_epochs(1);  ///< 0: at the end only
  /// The learning rate is multiplied by this when the validation loss stalls; 1 does not.
  double lr_stall_factor = 1;
  /// Validations in a row without a lower loss that count as a stall.
  std::int64_t lr_stall_tests = StalledRate{}.validations;

  // What it leaves behind.
  std::string out = {};                    ///< directory of the run; empty: none
  bool overwrite = false;                  ///< start the run that is there anew
  Interval save_every = every_epochs(1);   ///< 0: at the end only
  int keep_last = 3;                       ///< checkpoints kept besides the best
  bool histograms = false;                 ///< of the parameters, for TensorBoard
  bool log_placement = false;              ///< each operator once, with its devices; slower
  std::int64_t log_every = 20;             ///< steps between two log lines
  LogFormat log_format = LogFormat::text;  ///< of the log lines on stderr
  std::string trace = {};                  ///< file for a Chrome trace; empty: none
  StepRange trace_steps = {.first = 11, .last = 15};  ///< which steps the trace has

  /// What is kept with the run and must be the same when it resumes, as TOML. Empty: what of these
  /// options must be the same (`config_text`), and nothing of the model's own.
  std::string config = {};
  /// The same with the default of every option, for runs of before an option existed.
  std::string config_defaults = {};
  std::string command_line = {};  ///< how the process was started, for the log
  /// Ends messages about the run's directory: a program names its flags there.
  std::string directory_hint = {};
};

/// The options that must be the same when a run resumes, as TOML: one `name = value` a line.
std::string config_text(const RunOptions& options);

/// The names of those that may change: where a run computes, how it is watched and when it ends.
const std::vector<std::string>& changeable_options();

/// Finds the processes that `processes` or a launcher speaks of, and sets `world` and this process's
/// part of the machine. Nothing happens to a process that is alone.
/// Fails: UsageError, or WorldError when the others do not come.
void join_processes(RunOptions& options);

/// The options, if a run can have them. Processes that train together call it together.
/// Fails: UsageError for a number out of range; and at every process, when one would end, validate or
/// save after other steps than the others, or spread its parameters alone: they would wait in vain.
RunOptions checked(RunOptions options);

/// Samples of one feed of one tower. Fails: UsageError when the batch cannot be divided among them.
std::int64_t feed_size(const RunOptions& options, int towers);

/// Feeds of each tower in one step.
int feeds_per_tower(const RunOptions& options);

/// Steps of a whole run.
std::int64_t run_steps(const RunOptions& options, std::int64_t steps_per_epoch);

/// Seed, precision and placement; asynchronous towers have their parameters on the host.
TowerOptions tower_options(const RunOptions& options);

/// What of the options a step is told.
StepOptions step_options(const RunOptions& options);

/// How `init_from` is loaded. Fails: UsageError for the other `init_` options without it.
LoadOptions init_options(const RunOptions& options);

/// When the learning rate falls; never for a factor of 1. Fails: UsageError for a factor that
/// cannot be.
std::optional<StalledRate> stalled_rate(const RunOptions& options);

/// Nothing for synchronous updates. Fails: UsageError for a bound without asynchronous ones, and for
/// stages with them.
std::optional<AsyncOptions> async_options(const RunOptions& options);

}  // namespace pagoda
