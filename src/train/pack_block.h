#pragma once

#include <pagoda/params/gradient_view.h>

#include <vector>

#include "params/block_plan.h"

namespace pagoda {

/// Writes the weighted sum of the towers' gradients into `to`, which is laid out like the parameter:
/// for the block's elements, and zeros where there is no gradient.
void pack_block(const ParameterGradient& gradient, const std::vector<double>& weights,
                const Block& block, const at::Tensor& to);

}  // namespace pagoda
