#include <pagoda/train/loop.h>

namespace pagoda {

LoopEnd Loop::run(RunState& state, const std::function<bool()>& should_stop) {
  const auto begin = std::chrono::steady_clock::now();
  stopping_ = false;
  while (state.step < options_.max_steps) {
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
  return [steps, hook = std::move(hook)](const StepResult& result, RunState& state) {
    if (state.step % steps == 0) hook(result, state);
  };
}

}  // namespace pagoda
