#pragma once

#include <pagoda/checkpoint/run_state.h>
#include <pagoda/train/step.h>

#include <cstdint>

namespace pagoda {

/// When the learning rate falls because training has come to a halt.
struct StalledRate {
  double factor = 0.5;           ///< what the rate is multiplied by, above 0 and below 1
  std::int64_t validations = 3;  ///< in a row without a lower loss, at least 1
};

/// Fails: UsageError that names what cannot be.
void check(const StalledRate& rule);

/// Notes the loss of a validation. After so many in a row that were not the lowest so far, the
/// step's learning rate is lowered, on top of its schedule, and the count begins anew. All it needs
/// is in the state and survives a restart. A loss that is not a number counts as no gain.
///
/// Threads: the coordinating thread, between steps.
/// Returns whether the rate was lowered.
/// Example: `if (lower_stalled_rate(evaluation.loss, {.factor = 0.5}, state, step)) say("…");`
bool lower_stalled_rate(double loss, const StalledRate& rule, RunState& state, Step& step);

}  // namespace pagoda
