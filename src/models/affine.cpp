#include "models/affine.h"

#include <ATen/core/grad_mode.h>

#include "models/fast_linear.h"
#include "models/int8_linear.h"

namespace pagoda {

Affine::Affine(const at::Tensor& weight, const at::Tensor& bias)
    : Affine(weight, bias, 0, weight.size(0)) {}

Affine::Affine(const at::Tensor& weight, const at::Tensor& bias, std::int64_t first,
               std::int64_t rows)
    : weight_(weight), bias_(bias), first_(first), rows_(rows) {}

at::Tensor Affine::chosen(const at::Tensor& parameter) const {
  // A part would cost backward a copy of the whole.
  return rows_ == parameter.size(0) ? parameter : parameter.narrow(0, first_, rows_);
}

at::Tensor Affine::operator()(const at::Tensor& x) const {
  if (int8_ != nullptr && !at::GradMode::is_enabled()) return (*int8_)(x);
  return fast_linear(x, chosen(weight_), chosen(bias_));
}

void Affine::use_int8(Int8Products& products) {
  int8_ = products.of(chosen(weight_), chosen(bias_));
}

}  // namespace pagoda
