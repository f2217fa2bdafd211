#pragma once

#include <memory>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// x · weightᵀ + bias many times with one weight, which is copied once into the order in which oneDNN's
/// kernels read it, instead of by every product. No autograd.
///
/// Threads: any number. Owns: its copy, so that the weight may change without being noticed.
class PackedLinear {
 public:
  /// Nothing where that would not be faster: for few rows of weight, for other types and devices than floats
  /// on the CPU, and where LibTorch's other library is the better one (see fast_product.h).
  static std::unique_ptr<PackedLinear> make(const at::Tensor& weight, const at::Tensor& bias);

  /// `x` [rows, in].
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  PackedLinear(const at::Tensor& weight, const at::Tensor& bias);

  at::Tensor weight_;
  at::Tensor bias_;
};

}  // namespace pagoda
