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

// What `Run` is made of, without the types of model and feeds. For users: run.h.

namespace pagoda {

/// Something of the user's that is done after the steps at which it is due.
struct RunHook {
  Interval every;   ///< when it is due
  Loop::Hook hook;  ///< what is done
};

namespace detail {

/// Runs one step; a wrapper does something around it, such as recording a trace.
using StepWrapper = std::function<StepResult(const std::function<StepResult()>& step)>;

/// A run's data from some position on, and the steps on it.
struct RunData {
  std::function<Loop(const StepWrapper& around, const LoopOptions& options)> loop;
  std::function<double()> waited_seconds;
};

/// What all sources have, whatever their feeds are.
struct RunSource {
  std::string about;
  std::string unit;
  std::function<std::int64_t(const DataPosition& position)> steps_from;
  std::function<RunData(const DataPosition& start, std::int64_t epochs)> data;
};

/// `step(feeds)` takes a step with the source's feeds.
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
  const Stages* stages = nullptr;  ///< where the towers have any
  RunTask& task;
  RunSource source;
  TowerShare share;  ///< of the towers of all processes
  std::vector<RunHook> hooks = {};
  std::vector<std::string> warnings = {};  ///< about devices, for the log
};

/// A whole run: resumes where the directory's newest checkpoint stands, logs, validates, saves,
/// traces, and ends by steps, time, signal or early stopping.
RunSummary train(const RunOptions& options, RunParts parts);

}  // namespace detail
}  // namespace pagoda
