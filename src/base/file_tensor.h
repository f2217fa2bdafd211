#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// A tensor as it lies in a file: its elements row by row, numbers little-endian.
struct FileTensor {
  std::string name;
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> shape = {};
  std::string_view bytes = {};
};

/// The most dimensions that a tensor may have: LibTorch's own limit.
inline constexpr std::size_t kMostDimensions = 64;

/// Bytes of a tensor; nothing when it has a negative size, too many dimensions, or more bytes than
/// can be counted, zeros among its sizes left aside.
std::optional<std::size_t> byte_count(at::ScalarType type, const std::vector<std::int64_t>& shape);

/// "[2, 3]", of a long list its beginning.
std::string shape_text(const std::vector<std::int64_t>& shape);

/// Whether bytes are truth values: any other bit pattern in memory is no bool for C++.
bool are_truth_values(std::string_view bytes);

/// The tensor itself, in the file's memory where that is aligned for its elements and has an owner,
/// which the tensor keeps alive; otherwise a copy.
at::Tensor tensor_of(const FileTensor& stored, std::shared_ptr<const void> owner);

}  // namespace pagoda
