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

/// What a TensorTable reads.
struct TensorTableOptions {
  /// The tensors that are wanted; empty: all that the files hold.
  std::vector<std::string> names = {};
};

/// Named tensors in files, row by row: sample i is row i (of dimension 0) of every tensor. The files
/// are mapped, never read whole, so that they may be larger than memory.
///
/// - `.safetensors`: the tensors that it names.
/// - `.npz` as numpy.savez writes it (not savez_compressed), `.npy`: a tensor of the file's name
///   without the ending. Numbers must be little-endian and in C order.
///
/// Tensors of one name in several files are one, its rows in the order of the files: shards. Files
/// may come from anywhere; whatever is wrong with them is told before the first sample.
///
/// Threads: any number may call `get` at once. Owns: the mappings. Files that are in use may be
/// replaced, but not changed.
/// Fails: IoError when a file cannot be read, or was cut since; DataError that names file and tensor
/// when it is damaged, has a tensor without rows, or tensors do not fit each other: numbers of rows,
/// types, shapes; UsageError for other kinds of files and for names that no file has.
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
    at::ScalarType type;                  ///< of its numbers
    std::vector<std::int64_t> row_shape;  ///< of one row
  };

  /// By name.
  const std::vector<Column>& columns() const { return columns_; }

  std::int64_t size() const override { return rows_; }

  /// The rows of these numbers, copied. Fails: UsageError for a number that is out of range.
  NamedBatch get(std::span<const std::int64_t> samples, std::int64_t epoch = 0) const override;

  /// The files, with checksums: reads each of them once.
  std::vector<DataInput> inputs() const override;

 private:
  struct Files;

  std::unique_ptr<const Files> files_;
  std::vector<Column> columns_;
  std::int64_t rows_ = 0;
};

}  // namespace pagoda
