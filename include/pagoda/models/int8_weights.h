#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// A matrix with 8 bits per element: row r is `values[r]` times `scales[r]`. A tensor with more
/// than two dimensions has one row for each index of the first dimension.
struct Int8Matrix {
  at::Tensor values;  ///< int8, from -127 to 127
  at::Tensor scales;  ///< [rows] float

  /// The matrix as floats, in the shape of `values`.
  at::Tensor widened() const;
};

/// Rounds each row to 255 evenly spaced values from minus to plus its greatest magnitude. A row of
/// zeros stays zero.
/// Fails: UsageError unless the tensor has two or more dimensions and floating-point elements.
Int8Matrix int8_rows(const at::Tensor& matrix);

class Int8Linear;

/// The matrices of a model in 8 bits, prepared for products; replicas that share their weights
/// share these, too. See SequenceModel::use_int8.
///
/// A weight is recognised by its address and size, so use a new object after weights have changed.
/// Threads: one at a time.
class Int8Products {
 public:
  /// The product for a layer's weight [out, in] and bias [out], prepared at the first call.
  /// Fails: UsageError unless they are floats in CPU memory; DeviceError if LibTorch was built
  /// without 8-bit products.
  std::shared_ptr<const Int8Linear> of(const at::Tensor& weight, const at::Tensor& bias);

 private:
  using Place = std::pair<const void*, std::int64_t>;  // a matrix's address and element count
  std::map<Place, std::shared_ptr<const Int8Linear>> made_;
};

}  // namespace pagoda
