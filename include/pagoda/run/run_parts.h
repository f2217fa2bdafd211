#pragma once

#include <pagoda/pipeline/stages.h>
#include <pagoda/run/feed_source.h>
#include <pagoda/run/run_options.h>
#include <pagoda/run/run_summary.h>
#include <pagoda/run/run_task.h>
#include <pagoda/train/loop.h>
#include <pagoda/train/step.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// The parts of `Run` that do not depend on the types of model and feeds. For users: run.h.

namespace pagoda {

/// A hook of the user's, called after the steps at which it is due.
struct RunHook {
  Interval every;   ///< when it is due
  Loop::Hook hook;  ///< what is called
};

namespace detail {

/// Runs one step, and does something around it, such as recording a trace.
using StepWrapper = std::function<StepResult(const std::function<StepResult()>& step)>;

/// A run's data from a position on, and the steps over it.
struct RunData {
  std::function<Loop(const StepWrapper& around, const LoopOptions& options)> loop;
  std::function<double()> waited_seconds;
};

/// What all sources have in common, whatever the type of their feeds.
struct RunSource {
  std::string about;
  std::string unit;
  std::function<std::int64_t(const DataPosition& position)> steps_from;
  std::function<RunData(const DataPosition& start, std::int64_t epochs)> data;
};

/// A source without the type of its feeds; `step(feeds)` takes a step with them.
template <class F, class TakeStep>
RunSource run_source(FeedSource<F>& source, TakeStep step) {
  const auto data = [&source, step](const DataPosition& start, std::int64_t epochs) {
    const std::shared_ptr<FeedStream<F>> stream = source.stream(start, epochs);
    const auto loop = [stream, step](const StepWrapper& around, const LoopOptions& options) {
      const auto advance = [step, around](const StepFeeds<F>& feeds) {
        return around([&] { return step(feeds); });
      };
      return Loop(advance, *stream, options);
    };
    return RunData{.loop = loop, .waited_seconds = [stream] { return stream->waited_seconds(); }};
  };
  return {.about = source.about(),
          .unit = source.unit(),
          .steps_from = [&source](const DataPosition& at) { return source.steps_from(at); },
          .data = data};
}

/// What a run works with.
struct RunParts {
  TowerGroup& towers;
  Step& step;
  const Stages* stages = nullptr;  ///< null if the towers have none
  RunTask& task;
  RunSource source;
  TowerShare share;  ///< this process's among the towers of all processes
  std::vector<RunHook> hooks = {};
  std::vector<std::string> warnings = {};  ///< about devices, for the log
};

/// A whole run: resumes from the newest checkpoint in the directory, logs, validates, saves,
/// traces, and ends after a number of steps, after some time, on a signal, or by early stopping.
RunSummary train(const RunOptions& options, RunParts parts);

}  // namespace detail
}  // namespace pagoda
