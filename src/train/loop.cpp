#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/train/loop.h>

#include <string>

namespace pagoda {

LoopOptions Loop::checked(const LoopOptions& options) {
  if (options.max_steps && *options.max_steps < 0) {
    throw UsageError("the loop's last step is " + std::to_string(*options.max_steps) +
                     "; it must be at least 0, or unset to run until the data ends");
  }
  if (options.max_time && !(options.max_time->count() >= 0)) {
    throw UsageError("the loop's time is " + number_text(options.max_time->count()) +
                     " s; it must be at least 0, or unset");
  }
  return options;
}

LoopEnd Loop::run(RunState& state, const std::function<bool()>& should_stop) {
  const auto begin = std::chrono::steady_clock::now();
  stopping_ = false;
  while (!options_.max_steps || state.step < *options_.max_steps) {
    if (should_stop && should_stop()) return LoopEnd::stopped;
    if (options_.max_time && std::chrono::steady_clock::now() - begin >= *options_.max_time) {
      return LoopEnd::out_of_time;
    }
    const auto advance = advance_();
    if (!advance) return LoopEnd::out_of_data;
    const StepResult& result = advance->result;
    state.step = result.step + 1;
    state.position = advance->after;
    state.samples += result.weight;
    for (const auto& hook : hooks_) hook(result, state);
    if (stopping_) return LoopEnd::stopped;
  }
  return LoopEnd::finished;
}

Loop::Hook every(std::int64_t steps, Loop::Hook hook) {
  if (steps < 1) {
    throw UsageError("a hook is to be called every " + std::to_string(steps) +
                     " steps; it must be at least 1");
  }
  return [steps, hook = std::move(hook)](const StepResult& result, RunState& state) {
    if (state.step % steps == 0) hook(result, state);
  };
}

}  // namespace pagoda
