#include "checkpoint/stored_tensors.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include "base/file_tensor.h"
#include "base/quoted_text.h"
#include "checkpoint/file_memory.h"

namespace pagoda {
namespace {

using Numbers = std::vector<std::int64_t>;

std::string shape_text(const StoredTensors::Shape& shape) {
  if (shape.sizes.size() > kMostDimensions || shape.strides.size() > kMostDimensions)
    return "a tensor of more than " + std::to_string(kMostDimensions) + " dimensions";
  std::ostringstream text;
  text << "a tensor of sizes " << at::IntArrayRef(shape.sizes) << ", strides "
       << at::IntArrayRef(shape.strides) << " and offset " << shape.offset;
  return text.str();
}

/// The product of all sizes but zeros; nothing when a number is negative or the product too large.
std::optional<std::int64_t> product_of(const Numbers& sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) return std::nullopt;
    if (size > 0 && __builtin_mul_overflow(product, size, &product)) return std::nullopt;
  }
  return product;
}

/// Whether every element that the shape selects lies in a storage of so many.
bool fits(const StoredTensors::Shape& shape, std::int64_t elements) {
  if (shape.sizes.size() != shape.strides.size() || shape.sizes.size() > kMostDimensions)
    return false;
  const auto product = product_of(shape.sizes);
  if (!product || shape.offset < 0 || shape.offset > elements) return false;
  const bool empty = std::count(shape.sizes.begin(), shape.sizes.end(), 0) > 0;
  if (!empty && *product > elements) return false;
  std::int64_t last = shape.offset;
  for (std::size_t i = 0; i < shape.sizes.size(); ++i) {
    const std::int64_t steps = std::max<std::int64_t>(shape.sizes[i] - 1, 0);
    std::int64_t reach = 0;
    if (shape.strides[i] < 0 || __builtin_mul_overflow(steps, shape.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return false;
  }
  return empty || last < elements;
}

}  // namespace

StoredTensors::StoredTensors(const ZipArchive& archive, std::string folder,
                             std::shared_ptr<const void> owner)
    : archive_(archive), folder_(std::move(folder)), owner_(std::move(owner)) {}

StoredTensors::Storage StoredTensors::storage(at::ScalarType type, const std::string& key,
                                              std::int64_t elements) {
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return by_key_.emplace(key, read(type, key, elements)).first->second;
  if (known->second.type != type || known->second.elements != elements)
    throw DataError("two tensors say different things of their storage " + quoted_text(key));
  return known->second;
}

StoredTensors::Storage StoredTensors::read(at::ScalarType type, const std::string& key,
                                           std::int64_t elements) const {
  const std::string name = folder_ + "/data/" + key;
  const ZipArchive::Record* record = archive_.find(name);
  if (record == nullptr) throw DataError("the record " + quoted_text(name) + " is missing");
  const std::size_t element_bytes = c10::elementSize(type);
  std::size_t bytes = 0;
  if (elements < 0 ||
      __builtin_mul_overflow(static_cast<std::size_t>(elements), element_bytes, &bytes) ||
      record->bytes.size() != bytes) {
    throw DataError("the record " + quoted_text(name) + " has " +
                    std::to_string(record->bytes.size()) + " bytes where " +
                    std::to_string(elements) + " elements of " + std::to_string(element_bytes) +
                    " bytes were expected");
  }
  if (type == at::kBool && !are_truth_values(record->bytes))
    throw DataError("the record " + quoted_text(name) + " holds truth values other than 0 and 1");
  return {.bytes = memory_of(*record), .type = type, .elements = elements};
}

at::Storage StoredTensors::memory_of(const ZipArchive::Record& record) const {
  const auto size = static_cast<std::int64_t>(record.bytes.size());
  const auto address = reinterpret_cast<std::uintptr_t>(record.bytes.data());
  if (owner_ && address % FileMemory::kAlignment == 0) {
    void* start = const_cast<char*>(record.bytes.data());  // nobody else reads the file's memory
    return at::from_blob(
               start, {size}, [owner = owner_](void*) {}, at::kByte)
        .storage();
  }
  const at::Tensor copy = at::empty({size}, at::kByte);
  std::copy(record.bytes.begin(), record.bytes.end(), static_cast<char*>(copy.mutable_data_ptr()));
  return copy.storage();
}

at::Tensor StoredTensors::tensor(const Storage& storage, const Shape& shape) {
  if (!fits(shape, storage.elements)) {
    throw DataError(shape_text(shape) + " does not fit its storage of " +
                    std::to_string(storage.elements) + " elements");
  }
  at::Tensor tensor = at::empty({0}, storage.type);
  tensor.set_(storage.bytes, shape.offset, shape.sizes, shape.strides);
  return tensor;
}

}  // namespace pagoda
