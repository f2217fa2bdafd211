#pragma once

#include <pagoda/data/dataset.h>
#include <pagoda/data/named_batch.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// Options of a TensorTable.
struct TensorTableOptions {
  /// Names of the tensors to read; empty: all that the files contain.
  std::vector<std::string> names = {};
};

/// A data set of named tensors in files: sample i is row i (of dimension 0) of every tensor. The
/// files are mapped, never read as a whole, so they may be larger than memory.
///
/// - `.safetensors`: the tensors of the file, with their names.
/// - `.npz`, as numpy.savez writes it (not savez_compressed): its arrays, with their names.
/// - `.npy`: one tensor, with the name of the file without its extension.
///
/// Numpy's arrays must be little-endian and in C order. Tensors of the same name in several files
/// (shards) are one tensor, whose rows are in the order of the files. Files may come from
/// anywhere; the constructor reports whatever is wrong with them, before the first sample.
///
/// Threads: any number may call `get` at once. Owns: the mappings. Files in use may be replaced,
/// but must not be changed in place.
/// Fails: IoError when a file cannot be read, or was truncated later; DataError with file and
/// tensor when a file is damaged, when a tensor has no rows or empty ones, or when numbers of rows,
/// types or shapes do not match; UsageError for no files, other kinds of files, and names that no
/// file has.
///
/// Example:
///     TensorTable data({"train-0.safetensors", "train-1.safetensors"});
///     Run(options, make_model).train(data, validation, [](Model& model, const NamedBatch& batch) {
///       return cross_entropy(model(batch.get("x")), batch.get("y"));
///     });
class TensorTable : public DatasetOf<NamedBatch> {
 public:
  explicit TensorTable(const std::vector<std::filesystem::path>& files,
                       const TensorTableOptions& options = {});
  ~TensorTable() override;
  TensorTable(TensorTable&& other) noexcept;

  /// A tensor of the table.
  struct Column {
    std::string name;                     ///< as in the files
    at::ScalarType type;                  ///< of its elements
    std::vector<std::int64_t> row_shape;  ///< shape of one row
  };

  /// All tensors of the table, sorted by name.
  const std::vector<Column>& columns() const { return columns_; }

  std::int64_t size() const override { return rows_; }

  /// Copies of the rows with these numbers. Fails: UsageError for a number out of range; IoError
  /// when a file was truncated.
  NamedBatch get(std::span<const std::int64_t> samples, std::int64_t epoch = 0) const override;

  /// The files with their checksums; each call reads all of them.
  std::vector<DataInput> inputs() const override;

 private:
  struct Files;

  std::unique_ptr<const Files> files_;
  std::vector<Column> columns_;
  std::int64_t rows_ = 0;
};

}  // namespace pagoda
