#pragma once

#include <pagoda/params/gradient_view.h>
#include <pagoda/params/parameter_table.h>
#include <pagoda/train/step_options.h>

#include <vector>

namespace pagoda {

/// What the hook leaves of a gradient, as a view with one gradient for each parameter.
/// Fails: UsageError when the hook leaves one of another shape or type; what the hook throws.
GradientView after_hook(const GradientHook& hook, const std::vector<NamedTensor>& parameters,
                        const GradientView& gradients);

}  // namespace pagoda
