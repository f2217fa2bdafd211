#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace pagoda {

/// torch::nn::Dropout, but for floats in CPU memory in one pass over them and without a mask: which
/// elements are dropped is a function of their places and of one number, which is drawn from the generator
/// that LibTorch's dropout would draw from. Elsewhere it is LibTorch's own.
///
/// Threads: as torch::nn::Module. Fails: UsageError unless 0 <= p < 1.
/// Example: `register_module("dropout", FastDropout(0.1))`
class FastDropoutImpl : public torch::nn::Module {
 public:
  /// With the chance `p` an element becomes 0; the others are divided by 1 - p.
  explicit FastDropoutImpl(double p);

  /// In evaluation mode `x` itself.
  at::Tensor forward(const at::Tensor& x);

 private:
  const double p_;
};
TORCH_MODULE(FastDropout);

}  // namespace pagoda
