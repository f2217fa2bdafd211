#pragma once

#include <cstdint>
#include <memory>

#include <ATen/core/Tensor.h>

namespace pagoda {

class Int8Linear;
class Int8Products;

/// x · weightᵀ + bias by parameters of a module, or by some of their rows, with gradients.
class Affine {
 public:
  Affine() = default;
  /// All rows, or `rows` of them from `first` on. The parameters may get other values and types later.
  Affine(const at::Tensor& weight, const at::Tensor& bias);
  Affine(const at::Tensor& weight, const at::Tensor& bias, std::int64_t first, std::int64_t rows);

  at::Tensor operator()(const at::Tensor& x) const;

  /// From now on weights of 8 bits are used wherever no gradients are computed.
  void use_int8(Int8Products& products);

 private:
  at::Tensor chosen(const at::Tensor& parameter) const;

  at::Tensor weight_;
  at::Tensor bias_;
  std::int64_t first_ = 0;
  std::int64_t rows_ = 0;
  std::shared_ptr<const Int8Linear> int8_;
};

}  // namespace pagoda
