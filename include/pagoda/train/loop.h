#pragma once

#include <pagoda/checkpoint/run_state.h>
#include <pagoda/data/batches.h>
#include <pagoda/train/step.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace pagoda {

/// When a loop ends.
struct LoopOptions {
  /// Number of steps after which the run is finished, counting those of earlier calls; unset: when
  /// the data ends.
  std::optional<std::int64_t> max_steps = std::nullopt;
  /// Time limit of this call, not of the whole run; unset: none.
  std::optional<std::chrono::duration<double>> max_time = std::nullopt;
};

/// Why a loop ended: all steps done, no data left, time used up, or asked to stop.
enum class LoopEnd { finished, out_of_data, out_of_time, stopped };

/// Decides when to step and when to stop; everything else is up to its hooks.
///
/// Threads: the coordinating thread of the towers. Borrows: the stream of feeds.
/// Fails: UsageError for a negative number of steps or time. It passes on what the step or a hook
/// throws; the state is then that after the last completed step.
/// Example:
///     Loop loop([&](const Feeds& feeds) { return step.run(feeds, loss); }, data, {.max_steps =
///     10'000}); loop.add(every(500, [&](const StepResult&, RunState& state) { save(state); }));
///     loop.run(state, [&] { return signal.asked(); });
class Loop {
 public:
  /// Receives the result of a step, and the state of the run, which it may change.
  using Hook = std::function<void(const StepResult& result, RunState& state)>;

  /// `step(feeds)` takes one step with the stream's feeds and returns its StepResult.
  template <class F, class Step>
  Loop(Step step, FeedStream<F>& data, const LoopOptions& options)
      : options_(checked(options)),
        advance_([step = std::move(step), &data]() mutable -> std::optional<Advance> {
          const StepFeeds<F>* feeds = data.next();
          if (feeds == nullptr) return std::nullopt;
          return Advance{step(*feeds), feeds->after};
        }) {}

  /// Adds a hook. Hooks are called after every step, in the order in which they were added.
  void add(Hook hook) { hooks_.push_back(std::move(hook)); }

  /// For hooks: ends the loop after the current step.
  void stop() { stopping_ = true; }

  /// Takes steps until something ends the loop. `should_stop` is called before each step.
  LoopEnd run(RunState& state, const std::function<bool()>& should_stop = nullptr);

 private:
  static LoopOptions checked(const LoopOptions& options);

  /// The result of one step and the position in the data after it.
  struct Advance {
    StepResult result;
    DataPosition after;
  };

  LoopOptions options_;
  std::function<std::optional<Advance>()> advance_;  // nothing when the data is used up
  std::vector<Hook> hooks_;
  bool stopping_ = false;
};

/// A hook that calls `hook` after every `steps`-th step of the run.
/// Fails: UsageError if `steps` is less than 1.
Loop::Hook every(std::int64_t steps, Loop::Hook hook);

}  // namespace pagoda
