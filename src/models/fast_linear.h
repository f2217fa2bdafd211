#pragma once

#include <ATen/core/Tensor.h>

namespace pagoda {

/// x · weightᵀ + bias for x [..., in] and weight [out, in], with gradients: at::linear, but in single
/// precision on the CPU by the faster of LibTorch's libraries (see fast_product.h). Under autocast the
/// products have 16 bits and the result has 32 (see narrow_products.h). Double and cards get at::linear
/// itself.
at::Tensor fast_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace pagoda
