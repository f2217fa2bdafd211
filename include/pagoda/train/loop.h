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
  /// Step at which the run is finished; unset: when the data ends.
  std::optional<std::int64_t> max_steps = std::nullopt;
  /// Of this call, not of the run.
  std::optional<std::chrono::duration<double>> max_time = std::nullopt;
};

/// Why a loop ended.
enum class LoopEnd { finished, out_of_data, out_of_time, stopped };

/// When to step and when to stop; what happens in between is the business of its hooks.
///
/// Threads: the coordinating thread of the towers. Borrows the batches.
/// Fails: UsageError for a number of steps or a time below 0; what the step or a hook throws: the
/// state is then that after the last whole step.
/// Example:
///     Loop loop([&](const Feeds& feeds) { return step.run(feeds, loss); }, data, {.max_steps =
///     10'000}); loop.add(every(500, [&](const StepResult&, RunState& state) { save(state); }));
///     loop.run(state, [&] { return signal.asked(); });
class Loop {
 public:
  /// Is told the result of a step, and may change the state.
  using Hook = std::function<void(const StepResult& result, RunState& state)>;

  /// `step(feeds)` takes one step with the stream's feeds and gives its StepResult.
  template <class F, class Step>
  Loop(Step step, FeedStream<F>& data, const LoopOptions& options)
      : options_(checked(options)),
        advance_([step = std::move(step), &data]() mutable -> std::optional<Advance> {
          const StepFeeds<F>* feeds = data.next();
          if (feeds == nullptr) return std::nullopt;
          return Advance{step(*feeds), feeds->after};
        }) {}

  /// Called after every step, in the order in which they were added.
  void add(Hook hook) { hooks_.push_back(std::move(hook)); }

  /// Ends the loop after the current step; for hooks.
  void stop() { stopping_ = true; }

  /// Steps until something ends it. `should_stop` is asked between two steps.
  LoopEnd run(RunState& state, const std::function<bool()>& should_stop = nullptr);

 private:
  static LoopOptions checked(const LoopOptions& options);

  /// One step and where it ends in the data.
  struct Advance {
    StepResult result;
    DataPosition after;
  };

  LoopOptions options_;
  std::function<std::optional<Advance>()> advance_;  // nothing when the data is used up
  std::vector<Hook> hooks_;
  bool stopping_ = false;
};

/// The hook after every `steps`-th step of the run. Fails: UsageError for less than 1.
Loop::Hook every(std::int64_t steps, Loop::Hook hook);

}  // namespace pagoda
