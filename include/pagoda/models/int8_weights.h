#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// A matrix with 8 bits for each element: row r is `values[r]` times `scales[r]`. Tensors with more
/// dimensions count as a row for each index of the first one.
struct Int8Matrix {
  at::Tensor values;  ///< int8, from -127 to 127
  at::Tensor scales;  ///< [rows], float

  /// As a matrix of floats again.
  at::Tensor widened() const;
};

/// Each row rounded to 255 values between minus and plus its greatest magnitude. A row of zeros stays
/// one. Fails: UsageError for a tensor without rows, or whose elements are not floating-point.
Int8Matrix int8_rows(const at::Tensor& matrix);

class Int8Linear;

/// The matrices of a model in 8 bits, ready for products; replicas that share their weights share
/// these too. See SequenceModel::use_int8.
///
/// Threads: one at a time.
class Int8Products {
 public:
  /// That of a layer's weight [out, in] and bias [out]. Fails: UsageError unless they are float in CPU
  /// memory; DeviceError where LibTorch was built without products in 8 bits.
  std::shared_ptr<const Int8Linear> of(const at::Tensor& weight, const at::Tensor& bias);

 private:
  using Place = std::pair<const void*, std::int64_t>;  // where a matrix is, and its elements
  std::map<Place, std::shared_ptr<const Int8Linear>> made_;
};

}  // namespace pagoda
