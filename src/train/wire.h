#pragma once

#include <pagoda/train/wire_type.h>

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// How values travel between processes: as they are, or rounded to 16 bits. Only values of 32 bits are
/// rounded.
///
/// Values of fp16 are multiplied by a power of two, which goes along, so that the largest lies near
/// the end of its range and none overflows.
class Wire {
 public:
  Wire(WireType wire, at::ScalarType values);

  /// Whether a message is the values themselves.
  bool is_plain() const { return plain_; }

  /// What a message of so many values consists of.
  at::ScalarType type() const;
  std::int64_t elements(std::int64_t count) const;

  /// Room for it.
  at::Tensor room(std::int64_t count) const;

  /// Writes values, and what earlier ones lost, into a message; `lost` then holds what these lose.
  /// Both are vectors of equal length.
  void encode(const at::Tensor& values, const at::Tensor& lost, const at::Tensor& message) const;

  /// What the receiver has of it.
  at::Tensor decoded(const at::Tensor& message) const;

 private:
  const WireType wire_;
  const at::ScalarType values_;
  const bool plain_;
};

}  // namespace pagoda
