#include "base/file_tensor.h"

#include <algorithm>
#include <cstring>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

namespace pagoda {

std::optional<std::size_t> byte_count(at::ScalarType type, const std::vector<std::int64_t>& shape) {
  if (shape.size() > kMostDimensions) return std::nullopt;
  auto bytes = static_cast<std::int64_t>(c10::elementSize(type));
  for (const std::int64_t size : shape) {
    // LibTorch multiplies all sizes, also where one is 0.
    if (size < 0 || (size > 0 && __builtin_mul_overflow(bytes, size, &bytes))) return std::nullopt;
  }
  const bool empty = std::count(shape.begin(), shape.end(), 0) > 0;
  return empty ? 0 : static_cast<std::size_t>(bytes);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  constexpr std::size_t kMostShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(shape.size(), kMostShown); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return "[" + text + (shape.size() > kMostShown ? ", …]" : "]");
}

bool are_truth_values(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0 || byte == 1; });
}

at::Tensor tensor_of(const FileTensor& stored, std::shared_ptr<const void> owner) {
  const auto address = reinterpret_cast<std::uintptr_t>(stored.bytes.data());
  const bool aligned = address % c10::elementSize(stored.type) == 0;
  if (owner && aligned && !stored.bytes.empty()) {
    void* start = const_cast<char*>(stored.bytes.data());  // the owner's memory may be written to
    return at::from_blob(
        start, stored.shape, [owner = std::move(owner)](void*) {}, stored.type);
  }
  at::Tensor copy = at::empty(stored.shape, stored.type);
  if (!stored.bytes.empty())
    std::memcpy(copy.mutable_data_ptr(), stored.bytes.data(), stored.bytes.size());
  return copy;
}

}  // namespace pagoda
