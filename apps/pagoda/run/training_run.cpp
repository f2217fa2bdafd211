#include "run/training_run.h"

#include <pagoda/base/number_text.h>
#include <pagoda/base/stop_signal.h>
#include <pagoda/base/stopwatch.h>
#include <pagoda/train/step_trace.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "run/run_output.h"
#include "run/tower_watch.h"
#include "terminal/text_table.h"

namespace pagoda::app {
namespace {

const char* end_text(LoopEnd end, bool early) {
  switch (end) {
    case LoopEnd::finished:
    case LoopEnd::out_of_data:
      return early ? "stopped early" : "finished";
    case LoopEnd::out_of_time:
      return "out of time";
    case LoopEnd::stopped:
      return early ? "stopped early" : "stopped";
  }
  return "";
}

/// One call of `train`.
class TrainingRun {
 public:
  TrainingRun(const TrainFlags& flags, const std::string& config, TrainingTask task)
      : flags_(flags),
        config_(config),
        task_(std::move(task)),
        valid_every_(parse_interval(flags.valid_every)),
        save_every_(parse_interval(flags.save_every)),
        stall_(flags.stalled_rate()),
        watch_(task_.towers, task_.stages,
               flags.log_placement ? LogPlacement::yes : LogPlacement::no),
        trace_(make_trace(flags)),
        console_(console_format(flags)),
        output_(console_, {.directory = flags.dry_run ? "" : flags.out,
                           .overwrite = flags.overwrite,
                           .keep_last = flags.keep_last,
                           .unit = task_.unit,
                           .config = config}) {}

  TrainingSummary run() {
    if (output_.directory()) record_ = task_.record();
    output_.check_data(record_);
    resume();
    const std::int64_t epochs =
        flags_.max_steps ? kEndlessEpochs : flags_.epochs - state_.position.epoch;
    const bool is_over =
        early_ || epochs < 1 || (flags_.max_steps && state_.step >= *flags_.max_steps);
    const TrainingData data = task_.data(state_.position, std::max<std::int64_t>(1, epochs));
    steps_ = is_over ? state_.step : expected_steps(data, epochs);
    begin(data);

    // Data of so many epochs ends by itself; how many steps those are may only be known then.
    const bool ends_by_data = !is_over && !flags_.dry_run && !flags_.max_steps;
    Loop loop =
        data.loop([this](const auto& step) { return traced(step); },
                  {.max_steps = ends_by_data ? kEndlessEpochs : steps_, .max_time = max_time()});
    add_hooks(loop, data.steps_per_epoch);
    const Stopwatch watch;
    const RunState before = state_;
    const StopSignal signal;
    const LoopEnd end = loop.run(state_, [&] { return signal.asked(); });
    finish(before.step, signal.asked());

    summary_.end = end_text(end, early_);
    summary_.exit_code = signal.exit_code();
    summary_.towers = task_.towers.size();
    summary_.unit = task_.unit;
    summary_.steps = state_.step;
    summary_.samples = state_.samples - before.samples;
    summary_.seconds = watch.seconds();
    summary_.waited = data.waited_seconds();
    summary_.devices = watch_.devices();
    summary_.memory = watch_.memory();
    return summary_;
  }

 private:
  static std::optional<StepTrace> make_trace(const TrainFlags& flags) {
    if (flags.trace.empty() || flags.dry_run) return std::nullopt;
    const auto [first, last] = parse_steps(flags.trace_steps);
    return std::optional<StepTrace>(std::in_place, flags.trace, first, last);
  }

  void resume() {
    if (const auto checkpoint = output_.recover()) {
      state_ = restore(*checkpoint, task_.towers, task_.step);
      saved_step_ = state_.step;
      early_ = is_stale();
      output_.say("going on after step " + std::to_string(state_.step) + ", " +
                  std::to_string(state_.position.consumed) + " samples into epoch " +
                  std::to_string(state_.position.epoch + 1));
      if (checkpoint->towers != task_.towers.size()) {
        output_.say("the run had " + std::to_string(checkpoint->towers) + " towers, now it has " +
                    std::to_string(task_.towers.size()) +
                    ": from here on a step has another number of samples");
      }
    }
    output_.begin_at(state_.step);
  }

  bool is_stale() const {
    return flags_.early_stopping > 0 && state_.stale_validations >= flags_.early_stopping;
  }

  std::int64_t expected_steps(const TrainingData& data, std::int64_t epochs) const {
    if (flags_.dry_run) return state_.step + 1;
    if (flags_.max_steps) return *flags_.max_steps;
    return state_.step + data.steps_left + (epochs - 1) * data.steps_per_epoch;
  }

  std::optional<std::chrono::duration<double>> max_time() const {
    if (!flags_.max_time) return std::nullopt;
    return std::chrono::duration<double>(*flags_.max_time);
  }

  void begin(const TrainingData& data) {
    console_.expect(steps_);
    for (const auto& line : task_.about) output_.say(line);
    output_.say(task_.model + " on " + counted(task_.towers.size(), "tower") + ", " +
                placement_name(task_.towers.replicas()->placement()) + " parameters, " +
                flags_.update + " updates, " + data.step_text + ", " +
                counted(data.steps_per_epoch, "step") + " an epoch, until step " +
                std::to_string(steps_));
    if (output_.directory() && task_.prepare) task_.prepare(*output_.directory());
    output_.keep_data(record_, state_.step);
    if (output_.events() && state_.step == 0) {
      output_.events()->text("configuration", 0, "```toml\n" + config_ + "```");
      task_.describe(*output_.events());
    }
  }

  StepResult traced(const std::function<StepResult()>& step) {
    if (!trace_) return step();
    trace_->before(state_.step + 1);
    StepResult result = step();
    if (trace_->after(result.step + 1)) {
      output_.say("wrote the trace of steps " + flags_.trace_steps + " to " + flags_.trace);
    }
    return result;
  }

  void add_hooks(Loop& loop, std::int64_t steps_per_epoch) {
    window_.restart();
    loop.add([this](const StepResult& result, RunState&) { log(result); });
    loop.add([this, &loop, steps_per_epoch](const StepResult&, RunState&) {
      if (!valid_every_.is_due(state_.step, state_.position, steps_per_epoch)) return;
      test(Test::due);
      early_ = is_stale();
      if (early_) loop.stop();
    });
    loop.add([this, steps_per_epoch](const StepResult&, RunState&) {
      if (save_every_.is_due(state_.step, state_.position, steps_per_epoch)) save();
    });
  }

  /// The shown rate is that since the last log line.
  void log(const StepResult& result) {
    summary_.loss = result.loss;
    summary_.skipped += result.skipped ? 1 : 0;
    log_placement();
    window_samples_ += result.weight;
    const double rate = window_samples_ / window_.seconds();
    output_.progress(result, rate);
    if (state_.step % flags_.log_every != 0 && state_.step != steps_) return;
    output_.step(state_, result, rate);
    output_.memory(state_.step, watch_.names(), watch_.memory());
    window_.restart();
    window_samples_ = 0;
  }

  void log_placement() {
    for (const auto& line : watch_.new_operators()) output_.say(line);
  }

  enum class Test {
    due,
    last  ///< at the end of a call, out of turn: a longer run would not have it
  };

  void test(Test kind) {
    const Stopwatch testing;
    const TestResult result = task_.test();
    summary_.test = result.evaluation;
    tested_step_ = state_.step;
    const bool is_best = kind == Test::due && count(result.evaluation);
    output_.test(state_.step, result.evaluation, result.notes, is_best);
    output_.say(memory_text(watch_.devices(), watch_.memory()));
    log_placement();
    if (stall_ && kind == Test::due &&
        lower_stalled_rate(result.evaluation.loss, *stall_, state_, task_.step)) {
      output_.say("the test loss has stalled: the learning rate is now multiplied by " +
                  number_text(state_.rate_factor));
    }
    if (output_.events()) {
      for (const auto& [name, picture] : result.pictures)
        output_.events()->image(name, state_.step, picture.view());
    }
    if (flags_.histograms && output_.events()) write_histograms(*output_.events());
    if (is_best) save();
    window_.leave_out(testing.seconds());  // the rate is that of training
  }

  /// Of a run that has no step to do. One that was killed after its last checkpoint may lack the
  /// numbers of its last test.
  void test_again(bool interrupted) {
    const TestResult result = task_.test();
    summary_.test = result.evaluation;
    if (!interrupted && !output_.has_test())
      output_.test(state_.step, result.evaluation, result.notes, /*is_best=*/false);
  }

  /// Counts a test into what the run knows of its best; whether this is it.
  bool count(const Evaluation& evaluation) {
    const double value = evaluation.metric(task_.watched);
    const bool is_best = !state_.best || is_better(value, *state_.best);
    ++state_.stale_validations;
    if (is_best) {
      state_.best = value;
      state_.best_step = state_.step;
      state_.stale_validations = 0;
    }
    return is_best;
  }

  bool is_better(double value, double than) const {
    return task_.better == Better::more ? value > than : value < than;
  }

  void write_histograms(EventWriter& events) const {
    for (const auto& [name, tensor] : task_.towers.master().trainable) {
      const at::Tensor values = tensor.detach().to(at::kFloat).contiguous();
      events.histogram("parameters/" + name, state_.step,
                       {values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel())});
    }
  }

  void save() {
    if (!output_.directory() || saved_step_ == state_.step) return;
    const Stopwatch saving;
    output_.save(snapshot(task_.towers, task_.step, state_, config_));
    saved_step_ = state_.step;
    summary_.stalled += saving.seconds();
  }

  /// Tests and saves what the hooks have not; a run that was finished before is only tested.
  void finish(std::int64_t first_step, bool interrupted) {
    task_.step.finish();
    if (state_.step == first_step && state_.step > 0) {
      test_again(interrupted);
    } else if (!interrupted && tested_step_ != state_.step) {
      test(Test::last);
    }
    save();
    output_.finish();
  }

  // Constant after construction.
  const TrainFlags& flags_;
  const std::string& config_;
  const TrainingTask task_;
  const Interval valid_every_;
  const Interval save_every_;
  const std::optional<StalledRate> stall_;

  TowerWatch watch_;
  std::optional<StepTrace> trace_;
  Console console_;
  RunOutput output_;
  DataRecord record_;
  RunState state_;
  TrainingSummary summary_;
  std::int64_t steps_ = 0;         // step at which the run is finished
  bool early_ = false;             // early stopping has ended it
  std::int64_t tested_step_ = -1;  // step of the last test
  std::int64_t saved_step_ = -1;   // step of the last checkpoint
  Stopwatch window_;               // of the rate
  double window_samples_ = 0;
};

}  // namespace

Console::Format console_format(const TrainFlags& flags) {
  return flags.log_format == "json" ? Console::Format::json : Console::Format::text;
}

StepOptions step_options(const TrainFlags& flags) {
  return {.max_tower_grad_norm = unless_zero(flags.optimizer.max_tower_grad_norm),
          .max_grad_norm = unless_zero(flags.optimizer.max_grad_norm),
          .l2 = flags.optimizer.l2,
          .decay_scope = DecayScope::weights,
          .moving_average = chosen_average(flags.optimizer),
          .on_non_finite = flags.on_non_finite == "skip" ? NonFinite::skip : NonFinite::stop,
          .measure_grad_norm = true};
}

TrainingSummary train(const TrainFlags& flags, const std::string& config, TrainingTask task) {
  return TrainingRun(flags, config, std::move(task)).run();
}

}  // namespace pagoda::app
