#pragma once

#include <pagoda/checkpoint/run_state.h>
#include <pagoda/train/step.h>

#include <cstdint>

namespace pagoda {

/// When to lower the learning rate because training has stalled.
struct StalledRate {
  double factor = 0.5;           ///< what the rate is multiplied by; above 0 and below 1
  std::int64_t validations = 3;  ///< how many in a row without a lower loss; at least 1
};

/// Fails: UsageError that names the value that is out of range.
void check(const StalledRate& rule);

/// Records the loss of a validation. After `rule.validations` of them in a row without a new lowest
/// loss, the step's learning rate is lowered, on top of its schedule, and the count starts again.
/// Everything it needs is in the state and survives a restart. A loss that is NaN counts as no
/// improvement.
///
/// Threads: the coordinating thread, between steps.
/// Returns: whether the rate was lowered.
/// Fails: UsageError, as `check`.
/// Example: `if (lower_stalled_rate(evaluation.loss, {.factor = 0.5}, state, step)) say("…");`
bool lower_stalled_rate(double loss, const StalledRate& rule, RunState& state, Step& step);

}  // namespace pagoda
