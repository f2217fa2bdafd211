#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "base/zip_archive.h"

namespace pagoda {

/// The tensors of an archive that `torch.save` wrote: views of its records.
///
/// Tensors of one storage share its memory, and nothing is copied where the archive's memory is
/// `owned` and the record is aligned in it: a tensor then keeps all of that memory alive.
///
/// Threads: one. Borrows: the archive.
/// Fails: DataError that says what is wrong with the tensor; the caller names the file.
class StoredTensors {
 public:
  struct Storage {
    at::Storage bytes;
    at::ScalarType type;
    std::int64_t elements;
  };

  struct Shape {
    std::int64_t offset;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
  };

  /// `folder`: of the archive's records. Without an owner every record is copied.
  StoredTensors(const ZipArchive& archive, std::string folder, std::shared_ptr<const void> owner);

  /// The record `<folder>/data/<key>`, which must have exactly as many elements.
  Storage storage(at::ScalarType type, const std::string& key, std::int64_t elements);

  /// The elements that a shape selects, all of which must lie in the storage. A tensor does not
  /// have more elements than its storage.
  static at::Tensor tensor(const Storage& storage, const Shape& shape);

 private:
  Storage read(at::ScalarType type, const std::string& key, std::int64_t elements) const;
  at::Storage memory_of(const ZipArchive::Record& record) const;

  const ZipArchive& archive_;
  const std::string folder_;
  const std::shared_ptr<const void> owner_;
  std::map<std::string, Storage> by_key_;
};

}  // namespace pagoda
