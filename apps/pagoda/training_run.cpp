#include "training_run.h"

#include <pagoda/base/stop_signal.h>
#include <pagoda/train/loop.h>
#include <pagoda/train/step_trace.h>

#include <chrono>
#include <cstdio>

#include "run_output.h"
#include "text_table.h"

namespace pagoda::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

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
        trace_(make_trace(flags)),
        console_(flags.log_format == "json" ? Console::Format::json : Console::Format::text),
        output_(console_, {.directory = flags.dry_run ? "" : flags.out,
                           .overwrite = flags.overwrite,
                           .keep_last = flags.keep_last,
                           .config = config}) {}

  TrainingSummary run() {
    resume();
    Batches data = task_.data(state_.position);
    steps_ = flags_.dry_run ? state_.step + 1 : last_step(data.plan());
    begin(data.plan());

    Loop loop([this](const Feeds& feeds) { return traced_step(feeds); }, data,
              {.max_steps = steps_, .max_time = max_time()});
    add_hooks(loop, data.plan());
    const auto start = Clock::now();
    const RunState before = state_;
    const StopSignal signal;
    const LoopEnd end = loop.run(state_, [&] { return signal.asked(); });
    finish(before.step, signal.asked());

    summary_.end = end_text(end, early_);
    summary_.exit_code = signal.exit_code();
    summary_.towers = task_.towers.size();
    summary_.steps = state_.step;
    summary_.samples = state_.samples - before.samples;
    summary_.seconds = seconds_since(start);
    summary_.waited = data.waited_seconds();
    return summary_;
  }

 private:
  static std::optional<StepTrace> make_trace(const TrainFlags& flags) {
    if (flags.trace.empty() || flags.dry_run) return std::nullopt;
    const auto [first, last] = parse_steps(flags.trace_steps);
    return std::optional<StepTrace>(std::in_place, flags.trace, first, last);
  }

  void resume() {
    if (!output_.checkpoints()) return;
    const auto checkpoint =
        output_.checkpoints()->load_newest([this](const std::string& line) { output_.say(line); });
    if (checkpoint) {
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

  std::int64_t last_step(const FeedPlan& plan) const {
    if (early_) return state_.step;
    if (flags_.max_steps) return *flags_.max_steps;
    const std::int64_t later_epochs = flags_.epochs - state_.position.epoch - 1;
    if (later_epochs < 0) return state_.step;
    return state_.step + plan.steps_from(state_.position.consumed) +
           later_epochs * plan.steps_per_epoch();
  }

  std::optional<std::chrono::duration<double>> max_time() const {
    if (!flags_.max_time) return std::nullopt;
    return std::chrono::duration<double>(*flags_.max_time);
  }

  void begin(const FeedPlan& plan) {
    console_.expect(steps_);
    output_.say(task_.model + " on " + counted(task_.towers.size(), "tower") + ", batch " +
                std::to_string(flags_.feed_size(task_.towers.size())) + " a tower, " +
                std::to_string(plan.step_samples()) + " a step, " +
                counted(plan.steps_per_epoch(), "step") + " an epoch, until step " +
                std::to_string(steps_));
    if (output_.events() && state_.step == 0) {
      output_.events()->text("configuration", 0, "```toml\n" + config_ + "```");
      task_.describe(*output_.events());
    }
  }

  StepResult traced_step(const Feeds& feeds) {
    if (!trace_) return task_.train(feeds);
    trace_->before(state_.step + 1);
    StepResult result = task_.train(feeds);
    if (trace_->after(result.step + 1)) {
      output_.say("wrote the trace of steps " + flags_.trace_steps + " to " + flags_.trace);
    }
    return result;
  }

  void add_hooks(Loop& loop, const FeedPlan& plan) {
    window_begin_ = Clock::now();
    loop.add([this](const StepResult& result, RunState&) { log(result); });
    if (const auto steps = valid_every_.steps(plan.steps_per_epoch())) {
      loop.add(every(*steps, [this, &loop](const StepResult&, RunState&) {
        test();
        early_ = is_stale();
        if (early_) loop.stop();
      }));
    }
    if (const auto steps = save_every_.steps(plan.steps_per_epoch())) {
      loop.add(every(*steps, [this](const StepResult&, RunState&) { save(Best::no); }));
    }
  }

  /// The shown rate is that since the last log line.
  void log(const StepResult& result) {
    summary_.loss = result.loss;
    summary_.skipped += result.skipped ? 1 : 0;
    window_samples_ += result.weight;
    const double rate = window_samples_ / seconds_since(window_begin_);
    output_.progress(result, rate);
    if (state_.step % flags_.log_every != 0 && state_.step != steps_) return;
    output_.step(state_, result, rate);
    window_begin_ = Clock::now();
    window_samples_ = 0;
  }

  void test() {
    const auto begin = Clock::now();
    summary_.test = task_.test();
    tested_step_ = state_.step;
    const double value = summary_.test->metric(task_.watched);
    const bool is_best = !state_.best || value > *state_.best;
    ++state_.stale_validations;
    if (is_best) {
      state_.best = value;
      state_.best_step = state_.step;
      state_.stale_validations = 0;
    }
    output_.test(state_.step, *summary_.test, is_best);
    if (flags_.histograms && output_.events()) write_histograms(*output_.events());
    if (is_best) save(Best::yes);
    window_begin_ += Clock::now() - begin;  // the rate is that of training
  }

  void write_histograms(EventWriter& events) const {
    for (const auto& [name, tensor] : task_.towers.master().trainable) {
      const at::Tensor values = tensor.detach().to(at::kFloat).contiguous();
      events.histogram("parameters/" + name, state_.step,
                       {values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel())});
    }
  }

  enum class Best { no, yes };

  void save(Best best) {
    const bool is_saved = saved_step_ == state_.step && best == Best::no;
    if (!output_.checkpoints() || is_saved) return;
    const auto begin = Clock::now();
    output_.checkpoints()->save(snapshot(task_.towers, task_.step, state_, config_),
                                best == Best::yes);
    output_.flush();
    saved_step_ = state_.step;
    summary_.stalled += seconds_since(begin);
  }

  /// Tests and saves what the hooks have not; a run that was finished before is only tested.
  void finish(std::int64_t first_step, bool interrupted) {
    if (state_.step == first_step && state_.step > 0) {
      summary_.test = task_.test();
    } else if (!interrupted && tested_step_ != state_.step) {
      test();
    }
    save(Best::no);
    if (output_.checkpoints()) output_.checkpoints()->wait();
    output_.flush();
  }

  // Constant after construction.
  const TrainFlags& flags_;
  const std::string& config_;
  const TrainingTask task_;
  const Interval valid_every_;
  const Interval save_every_;

  std::optional<StepTrace> trace_;
  Console console_;
  RunOutput output_;
  RunState state_;
  TrainingSummary summary_;
  std::int64_t steps_ = 0;            // step at which the run is finished
  bool early_ = false;                // early stopping has ended it
  std::int64_t tested_step_ = -1;     // step of the last test
  std::int64_t saved_step_ = -1;      // step of the last checkpoint
  Clock::time_point window_begin_{};  // of the rate
  double window_samples_ = 0;
};

}  // namespace

TrainingSummary train(const TrainFlags& flags, const std::string& config, TrainingTask task) {
  return TrainingRun(flags, config, std::move(task)).run();
}

}  // namespace pagoda::app
