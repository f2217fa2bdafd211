#include <pagoda/base/error.h>
#include <pagoda/base/error_text.h>
#include <pagoda/base/number_text.h>
#include <pagoda/base/stop_signal.h>
#include <pagoda/base/stopwatch.h>
#include <pagoda/run/run.h>
#include <pagoda/train/averaged_parameters.h>
#include <pagoda/train/load.h>
#include <pagoda/train/snapshot.h>
#include <pagoda/train/step_trace.h>

#include <algorithm>
#include <limits>

#include "run/best_validation.h"
#include "run/initial_weights.h"
#include "run/run_announcements.h"
#include "run/run_log_lines.h"
#include "run/run_output.h"
#include "run/run_processes.h"
#include "run/tower_watch.h"

namespace pagoda {
namespace {

constexpr std::int64_t kEndlessSteps = std::numeric_limits<std::int64_t>::max();

std::optional<StepTrace> make_trace(const RunOptions& options) {
  if (options.trace.empty() || options.dry_run) return std::nullopt;
  const auto [first, last] = options.trace_steps;
  return std::optional<StepTrace>(std::in_place, options.trace, first, last);
}

/// One call of `train`.
class TrainingRun {
 public:
  TrainingRun(const RunOptions& options, detail::RunParts parts)
      : options_(options),
        config_(options.config.empty() ? config_text(options) : options.config),
        parts_(std::move(parts)),
        steps_per_epoch_(parts_.source.steps_from({})),
        stall_(stalled_rate(options)),
        watch_(parts_.towers, parts_.stages,
               options.log_placement ? LogPlacement::yes : LogPlacement::no),
        trace_(is_first() ? make_trace(options) : std::nullopt),
        initial_(begins_anew(options) ? load_initial_weights() : std::nullopt),
        console_(options.log_format, is_first()),
        output_(console_, {.directory = options.dry_run || !is_first() ? "" : options.out,
                           .existing = options.overwrite ? Existing::overwrite : Existing::resume,
                           .keep_last = options.keep_last,
                           .unit = parts_.source.unit,
                           .config = config_,
                           .config_rules = {.defaults = options.config.empty()
                                                            ? config_text({.name = options.name})
                                                            : options.config_defaults,
                                            .changeable = changeable_options()},
                           .hint = options.directory_hint}) {}

  RunSummary run() {
    output_.note(start_line(watch_.devices(), options_.command_line));
    if (output_.directory() || options_.world) record_ = parts_.task.record();
    if (options_.world) expect_same_run(*options_.world, config_, record_);
    saves_ = options_.world ? first_has(*options_.world, output_.directory() != nullptr)
                            : output_.directory() != nullptr;
    output_.check_data(record_);
    resume();
    const std::int64_t epochs =
        options_.max_steps ? kEndlessEpochs : options_.epochs - state_.position.epoch;
    const bool was_over = is_over();
    const detail::RunData data =
        parts_.source.data(state_.position, std::max<std::int64_t>(1, epochs));
    steps_ = was_over ? state_.step : expected_steps(epochs);
    begin();

    // Data of so many epochs ends by itself; how many steps those are may only be known then.
    const bool ends_by_data = !was_over && !options_.dry_run && !options_.max_steps;
    Loop loop = data.loop([this](const auto& step) { return traced(step); },
                          {.max_steps = ends_by_data ? kEndlessSteps : steps_,
                           .max_time = options_.world ? std::nullopt : options_.max_time});
    add_hooks(loop);
    const Stopwatch watch;
    const WorldTraffic traffic = options_.world ? options_.world->traffic() : WorldTraffic{};
    const RunState before = state_;
    const StopSignal signal;
    StopAgreement stop(options_.world.get(), signal, options_.max_time);
    const LoopEnd end = loop.run(state_, [&] { return stop.is_agreed(); });
    if (options_.world)
      output_.say(traffic_line(traffic, options_.world->traffic(), watch.seconds()));
    finish(before.step, stop.signal_number() != 0);
    summary_.end = end_name(stop.is_time_up() ? LoopEnd::out_of_time : end, early_);
    say_end();
    output_.flush();
    summary_.exit_code = stop.exit_code();
    summary_.samples = state_.samples - before.samples;
    summary_.seconds = watch.seconds();
    summary_.waited = data.waited_seconds();
    return summarised();
  }

 private:
  /// Whether this process writes and speaks.
  bool is_first() const { return !options_.world || options_.world->rank() == 0; }

  void resume() {
    auto checkpoint = output_.recover();
    if (options_.world) checkpoint = shared_checkpoint(*options_.world, std::move(checkpoint));
    if (checkpoint) {
      state_ = restore(*checkpoint, parts_.towers, parts_.step);
      saved_step_ = state_.step;
      early_ = is_stale(state_, options_.early_stopping);
      output_.say(resumed_line(state_));
      if (checkpoint->towers != parts_.share.total)
        output_.say(changed_towers_line(checkpoint->towers, parts_.share.total));
    } else if (!initial_) {
      initial_ = load_initial_weights();
    }
    if (!checkpoint && initial_) output_.say(initial_weights_text(options_.init_from, *initial_));
    if (options_.world) expect_same_values(*options_.world, parts_.towers);
    output_.begin_at(state_.step);
  }

  /// Nothing where the options name no file.
  std::optional<LoadResult> load_initial_weights() const {
    if (options_.init_from.empty()) return std::nullopt;
    return load(parts_.towers, parts_.step, options_.init_from, init_options(options_));
  }

  /// Whether there is no step left to do.
  bool is_over() const {
    return early_ || (options_.max_steps ? state_.step >= *options_.max_steps
                                         : state_.position.epoch >= options_.epochs);
  }

  std::int64_t expected_steps(std::int64_t epochs) const {
    if (options_.dry_run) return state_.step + 1;
    if (options_.max_steps) return *options_.max_steps;
    return state_.step + parts_.source.steps_from(state_.position) +
           (epochs - 1) * steps_per_epoch_;
  }

  void begin() {
    console_.expect(steps_);
    for (const auto& warning : parts_.warnings) output_.say("warning: " + warning);
    if (!options_.world) {
      for (const auto& warning : warnings_alone(options_, *parts_.towers.replicas()))
        output_.say("warning: " + warning);
    }
    for (const auto& line : parts_.task.about()) output_.say(line);
    if (options_.world) output_.say(process_line(*options_.world));
    output_.say(plan_line(options_, parts_, steps_per_epoch_, steps_));
    if (output_.directory()) parts_.task.prepare(*output_.directory());
    output_.keep_data(record_, state_.step);
    if (output_.events() && state_.step == 0) {
      output_.events()->text("configuration", 0, "```toml\n" + config_ + "```");
      parts_.task.describe(*output_.events());
    }
  }

  StepResult traced(const std::function<StepResult()>& step) {
    if (!trace_) return step();
    trace_->before(state_.step + 1);
    StepResult result = step();
    if (trace_->after(result.step + 1)) {
      output_.say("wrote the trace of steps " + steps_text(options_.trace_steps) + " to " +
                  options_.trace);
    }
    return result;
  }

  bool is_due(const Interval& interval) const {
    return interval.is_due(state_.step, state_.position, steps_per_epoch_);
  }

  void add_hooks(Loop& loop) {
    window_.restart();
    loop.add([this](const StepResult& result, RunState&) { log(result); });
    for (const RunHook& hook : parts_.hooks) {
      loop.add([this, hook](const StepResult& result, RunState& state) {
        if (is_due(hook.every)) hook.hook(result, state);
      });
    }
    loop.add([this, &loop](const StepResult&, RunState&) {
      if (!is_due(options_.valid_every)) return;
      validate(Turn::due);
      early_ = is_stale(state_, options_.early_stopping);
      if (early_) loop.stop();
    });
    loop.add([this](const StepResult&, RunState&) {
      if (is_due(options_.save_every)) save(Keep::among_last);
    });
  }

  /// The shown rate is that since the last log line.
  void log(const StepResult& result) {
    summary_.loss = result.loss;
    summary_.skipped += result.skipped ? 1 : 0;
    summary_.overflows += result.overflows;
    state_.loss_scale = parts_.step.loss_scale();
    log_placement();
    count_others();
    // Between two meetings the others' samples are not known, only how many towers they have.
    const bool alone = options_.world && options_.local_steps.every > 1;
    window_samples_ +=
        result.weight * (alone ? parts_.share.total : parts_.share.own) / parts_.share.own;
    const double rate = window_samples_ / window_.seconds();
    output_.progress(result, rate);
    if (state_.step % options_.log_every != 0 && state_.step != steps_) return;
    output_.step(state_, result, rate);
    output_.memory(state_.step, watch_.names(), watch_.memory());
    window_.restart();
    window_samples_ = 0;
  }

  void count_others() { state_.samples += parts_.step.take_others_weight(); }

  void log_placement() {
    for (const auto& line : watch_.new_operators()) output_.say(line);
  }

  enum class Turn {
    due,
    last  ///< at the end of a call, out of turn: a longer run would not have it
  };

  Validation validation() {
    const AveragedParameters averaged(parts_.towers, parts_.step);
    Validation found = parts_.task.validate();
    if (options_.world) found.evaluation = evaluation_of_first(*options_.world, found.evaluation);
    summary_.validation = found.evaluation;
    return found;
  }

  void validate(Turn turn) {
    const Stopwatch testing;
    const Validation found = validation();
    validated_step_ = state_.step;
    const bool is_best =
        turn == Turn::due && count_validation(found.evaluation, parts_.task, state_);
    output_.validation(state_.step, found.evaluation, found.notes, is_best);
    output_.say(memory_text(watch_.devices(), watch_.memory()));
    log_placement();
    if (stall_ && turn == Turn::due &&
        lower_stalled_rate(found.evaluation.loss, *stall_, state_, parts_.step)) {
      output_.say("the validation loss has stalled: the learning rate is now multiplied by " +
                  number_text(state_.rate_factor));
    }
    if (output_.events()) {
      for (const auto& [name, picture] : found.pictures)
        output_.events()->image(name, state_.step, picture.view());
      if (options_.histograms) output_.histograms(state_.step, parts_.towers.master().trainable);
    }
    if (is_best) save(Keep::among_last);
    window_.leave_out(testing.seconds());  // the rate is that of training
  }

  /// Of a run that has no step to do. One that was killed after its last checkpoint may lack the
  /// numbers of its last validation.
  void validate_again(bool interrupted) {
    const Validation found = validation();
    if (!interrupted && !output_.has_validation())
      output_.validation(state_.step, found.evaluation, found.notes, /*is_best=*/false);
  }

  void save(Keep keep) {
    if (!saves_ || saved_step_ == state_.step) return;
    saved_step_ = state_.step;
    const bool writes = output_.directory() != nullptr;
    if (!writes && !parts_.step.shares_state()) return;
    const Stopwatch saving;
    parts_.step.finish();
    count_others();
    Checkpoint checkpoint = snapshot(parts_.towers, parts_.step, state_, config_);
    checkpoint.towers = parts_.share.total;
    if (writes) output_.save(std::move(checkpoint), keep);
    summary_.stalled += saving.seconds();
  }

  /// Validates and saves what the hooks have not; a run that was finished before is only validated.
  void finish(std::int64_t first_step, bool interrupted) {
    parts_.step.finish();
    count_others();
    if (state_.step == first_step && state_.step > 0) {
      validate_again(interrupted);
    } else if (!interrupted && validated_step_ != state_.step) {
      validate(Turn::last);
    }
    save(is_over() ? Keep::among_last : Keep::until_next);
    output_.finish();
  }

  void say_end() {
    if (options_.dry_run) return;
    const std::string end = end_line(summary_.end, state_.step);
    if (is_done(summary_.end)) return output_.note(end);
    output_.say(unfinished_line(end, output_.directory(), options_.command_line));
  }

  RunSummary summarised() {
    summary_.towers = parts_.share.total;
    summary_.unit = parts_.source.unit;
    summary_.steps = state_.step;
    summary_.devices = watch_.devices();
    summary_.memory = watch_.memory();
    return summary_;
  }

  // Constant after construction.
  const RunOptions& options_;
  const std::string config_;
  const detail::RunParts parts_;
  const std::int64_t steps_per_epoch_;
  const std::optional<StalledRate> stall_;

  TowerWatch watch_;
  std::optional<StepTrace> trace_;
  /// Loaded before the output is opened, so that a file that is refused changes no directory.
  std::optional<LoadResult> initial_;
  Console console_;
  RunOutput output_;
  DataRecord record_;
  RunState state_;
  RunSummary summary_;
  std::int64_t steps_ = 0;            // step at which the run is finished
  bool early_ = false;                // early stopping has ended it
  std::int64_t validated_step_ = -1;  // step of the last validation
  bool saves_ = false;                // rank 0 has a directory
  std::int64_t saved_step_ = -1;      // step of the last checkpoint
  Stopwatch window_;                  // of the rate
  double window_samples_ = 0;
};

}  // namespace

namespace detail {

void refuse_stages() {
  throw UsageError(
      "the model cannot be cut into stages: it must name its layers (model->layers()), and its "
      "loss "
      "must be a LayeredLoss; leave out the stages");
}

RunSummary train(const RunOptions& options, RunParts parts) {
  try {
    return TrainingRun(options, std::move(parts)).run();
  } catch (...) {
    if (options.world) options.world->fail(error_text(std::current_exception()));
    throw;
  }
}

}  // namespace detail
}  // namespace pagoda
