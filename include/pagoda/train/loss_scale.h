#pragma once

namespace pagoda {

/// How the loss is scaled where towers compute in fp16 (TowerOptions::precision). Small gradients
/// would underflow in fp16, so backward starts from the loss times a scale, and the update divides
/// by the scale again: norms, hooks and parameters are not affected.
///
/// A gradient that overflows shows that the scale is too large. The step is then skipped on all
/// towers of all processes (in an AsyncStep, only that update) and counted in
/// StepResult::overflows, and the scale is lowered; that is not an error. After enough updates
/// without an overflow, the scale is raised. A gradient that is still not finite at the smallest
/// scale, or a loss that is not finite, is a case for StepOptions::on_non_finite.
///
/// Scales that are powers of two change no bit of gradients that neither underflow nor overflow.
///
/// Example: `SyncStep step(towers, Adam{}, {.loss_scale = {.initial = 1024, .growth_steps = 500}});`
struct LossScale {
  double initial = 65536;    ///< scale of the first step
  int growth_steps = 2000;   ///< updates in a row without overflow before the scale is raised
  double factor = 2;         ///< what the scale is multiplied or divided by; above 1
  double least = 1;          ///< the scale is not lowered below this
  double most = 1073741824;  ///< the scale is not raised above this
};

/// Fails: UsageError for a value out of range.
void check(const LossScale& options);

}  // namespace pagoda
