#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace pagoda {

/// Dropout like torch::nn::Dropout, but for floats in CPU memory it takes a single pass and stores
/// no mask: which elements are dropped is a function of their index and of one number, drawn from
/// the generator that LibTorch's dropout would use. For other tensors it is LibTorch's own dropout.
///
/// Threads: as torch::nn::Module. Fails: UsageError unless 0 <= p < 1.
/// Example: `register_module("dropout", FastDropout(0.1))`
class FastDropoutImpl : public torch::nn::Module {
 public:
  /// An element becomes 0 with probability `p`; the others are divided by 1 - p.
  explicit FastDropoutImpl(double p);

  /// Applies dropout; in evaluation mode returns `x` itself.
  at::Tensor forward(const at::Tensor& x);

 private:
  const double p_;
};
TORCH_MODULE(FastDropout);

}  // namespace pagoda
