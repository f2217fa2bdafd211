#pragma once

namespace pagoda {

/// How the loss is scaled where towers compute in fp16 (TowerOptions::precision). Small gradients
/// would vanish in the range of fp16, so backward starts from the loss times a scale, and the update
/// divides by it again: norms, hooks and parameters see nothing of it.
///
/// A gradient that overflows shows that the scale is too large. Then the step is left out on all
/// towers of all processes, counted (StepResult::overflows), and the scale lowered; that is no error.
/// After some steps without one it is raised. A gradient that is still not finite at the least scale,
/// or a loss that is not, is a case for StepOptions::on_non_finite.
///
/// Powers of two change no bit of gradients that neither vanish nor overflow.
///
/// Example: `SyncStep step(towers, Adam{}, {.loss_scale = {.initial = 1024, .growth_steps = 500}});`
struct LossScale {
  double initial = 65536;    ///< what the loss is multiplied by at first
  int growth_steps = 2000;   ///< updates in a row after which it is raised
  double factor = 2;         ///< what it is raised or lowered by
  double least = 1;          ///< where lowering ends
  double most = 1073741824;  ///< where raising ends
};

/// Fails: UsageError for a value out of range.
void check(const LossScale& options);

}  // namespace pagoda
