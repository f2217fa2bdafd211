#pragma once

#include <pagoda/models/int8_weights.h>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/util/intrusive_ptr.h>

namespace pagoda {

/// x · weightᵀ + bias with weights of 8 bits, by fbgemm, which LibTorch has inside. Each row of x is
/// rounded to 8 bits by its own greatest magnitude, so that a row's result does not depend on the others.
///
/// Threads: any number. No autograd.
class Int8Linear {
 public:
  /// Fails: as Int8Products::of.
  Int8Linear(const at::Tensor& weight, const at::Tensor& bias);

  /// `x` [..., in] of floats in CPU memory.
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  c10::IValue packed_;  // what LibTorch keeps of the weight
  at::Tensor bias_;
};

}  // namespace pagoda
