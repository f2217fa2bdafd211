#include <pagoda/base/error.h>
#include <pagoda/data/tensor_table.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include <ATen/ops/empty.h>

#include "base/file_tensor.h"
#include "base/mapped_file.h"
#include "base/quoted_text.h"
#include "base/safetensors.h"
#include "data/npy_file.h"

namespace pagoda {

/// The rows of one tensor in one file.
struct RowBlock {
  std::int64_t first = 0;  // number of its first row in the table
  std::int64_t rows = 0;
  const char* start = nullptr;
};

/// A tensor in all its files.
struct RowColumn {
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> row_shape = {};
  std::size_t row_bytes = 0;
  std::vector<RowBlock> blocks = {};
  std::string first_file = {};  // for messages

  std::int64_t rows() const { return blocks.back().first + blocks.back().rows; }

  const char* row(std::int64_t number) const {
    const auto next = std::upper_bound(
        blocks.begin(), blocks.end(), number,
        [](std::int64_t wanted, const RowBlock& block) { return wanted < block.first; });
    const RowBlock& block = *std::prev(next);
    return block.start + static_cast<std::size_t>(number - block.first) * row_bytes;
  }
};

using RowColumns = std::map<std::string, RowColumn>;

namespace {

std::vector<FileTensor> tensors_in(const MappedFile& file) {
  const std::string source = file.path().string();
  const auto ending = file.path().extension();
  if (ending == ".npy") return {parse_npy(file.bytes(), source, file.path().stem().string())};
  if (ending == ".npz") return parse_npz(file.bytes(), source);
  return parse_safetensors(file.bytes(), source).tensors;
}

void check_ending(const std::filesystem::path& path) {
  const auto ending = path.extension();
  if (ending == ".safetensors" || ending == ".npy" || ending == ".npz") return;
  throw UsageError(path.string() +
                   " is no file of tensors: its name must end in .safetensors, .npy or .npz");
}

std::string name_list(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    list += (i == 0 ? "" : ", ") + quoted_text(names[i]);
  return list + (names.size() > kMostNames ? ", …" : "");
}

std::string row_text(at::ScalarType type, const std::vector<std::int64_t>& row_shape) {
  return std::string(c10::toString(type)) + " " + shape_text(row_shape);
}

/// Appends a file's tensor to what earlier files have of it.
void add_rows(const FileTensor& tensor, const std::string& file, RowColumns& columns) {
  if (tensor.shape.empty()) {
    throw DataError(file + ": tensor " + quoted_text(tensor.name) +
                    " is a single number and has no rows; leave it out, or name those that are "
                    "wanted");
  }
  const std::vector<std::int64_t> row_shape(tensor.shape.begin() + 1, tensor.shape.end());
  if (std::count(row_shape.begin(), row_shape.end(), 0) > 0) {
    throw DataError(file + ": tensor " + quoted_text(tensor.name) + " is " +
                    row_text(tensor.type, tensor.shape) + ", whose rows have no numbers");
  }
  const auto [place, is_new] = columns.try_emplace(tensor.name);
  RowColumn& column = place->second;
  if (is_new) {
    column = {.type = tensor.type,
              .row_shape = row_shape,
              .row_bytes = byte_count(tensor.type, row_shape).value(),
              .first_file = file};
  } else if (column.type != tensor.type || column.row_shape != row_shape) {
    throw DataError(file + ": a row of tensor " + quoted_text(tensor.name) + " is " +
                    row_text(tensor.type, row_shape) + ", in " + column.first_file + " " +
                    row_text(column.type, column.row_shape));
  }
  column.blocks.push_back({.first = is_new ? 0 : column.rows(),
                           .rows = tensor.shape.front(),
                           .start = tensor.bytes.data()});
}

/// Tensors of one file must have the same number of rows.
void check_rows(const std::vector<FileTensor>& tensors, const std::string& file) {
  for (const FileTensor& tensor : tensors) {
    const FileTensor& first = tensors.front();
    if (tensor.shape.front() == first.shape.front()) continue;
    throw DataError(file + ": tensor " + quoted_text(tensor.name) + " has " +
                    std::to_string(tensor.shape.front()) + " rows, " + quoted_text(first.name) +
                    " has " + std::to_string(first.shape.front()) + "; all must have as many");
  }
}

/// So must all of the table.
void check_rows(const RowColumns& columns) {
  const auto& [first_name, first] = *columns.begin();
  for (const auto& [name, column] : columns) {
    if (column.rows() == first.rows()) continue;
    throw DataError("tensor " + quoted_text(name) + " has " + std::to_string(column.rows()) +
                    " rows (" + column.first_file + "), " + quoted_text(first_name) + " has " +
                    std::to_string(first.rows()) + " (" + first.first_file +
                    "); all must have as many");
  }
}

bool is_wanted(const std::string& name, const TensorTableOptions& options) {
  return options.names.empty() ||
         std::find(options.names.begin(), options.names.end(), name) != options.names.end();
}

}  // namespace

struct TensorTable::Files {
  Files(const std::vector<std::filesystem::path>& paths, const TensorTableOptions& options) {
    if (paths.empty()) throw UsageError("a table of tensors needs at least one file");
    std::vector<std::string> found;
    for (const auto& path : paths) {
      check_ending(path);
      mapped.push_back(std::make_unique<const MappedFile>(path));
      std::vector<FileTensor> tensors = tensors_in(*mapped.back());
      for (const FileTensor& tensor : tensors) found.push_back(tensor.name);
      std::erase_if(tensors, [&](const auto& each) { return !is_wanted(each.name, options); });
      for (const FileTensor& tensor : tensors) add_rows(tensor, path.string(), columns);
      check_rows(tensors, path.string());
    }
    for (const std::string& name : options.names) {
      if (!columns.contains(name))
        throw UsageError(paths.front().string() +
                         (paths.size() > 1 ? " and the others have" : " has") + " no tensor " +
                         quoted_text(name) + "; there are " + name_list(found));
    }
    if (columns.empty()) throw DataError(paths.front().string() + " holds no tensors");
    check_rows(columns);
  }

  std::vector<std::unique_ptr<const MappedFile>> mapped;
  RowColumns columns;
};

TensorTable::TensorTable(const std::vector<std::filesystem::path>& files,
                         const TensorTableOptions& options)
    : files_(std::make_unique<const Files>(files, options)) {
  for (const auto& [name, column] : files_->columns)
    columns_.push_back({name, column.type, column.row_shape});
  rows_ = files_->columns.begin()->second.rows();
}

TensorTable::~TensorTable() = default;
TensorTable::TensorTable(TensorTable&& other) noexcept = default;

NamedBatch TensorTable::get(std::span<const std::int64_t> samples, std::int64_t) const {
  for (const std::int64_t sample : samples) {
    if (sample < 0 || sample >= rows_)
      throw UsageError("row " + std::to_string(sample) + " is asked for; the table has " +
                       std::to_string(rows_));
  }
  for (const auto& file : files_->mapped) file->check_whole();
  NamedBatch batch{.tensors = {}, .samples = {samples.begin(), samples.end()}};
  for (const auto& [name, column] : files_->columns) {
    std::vector<std::int64_t> shape = column.row_shape;
    shape.insert(shape.begin(), std::ssize(samples));
    const at::Tensor rows = at::empty(shape, column.type);
    auto* to = static_cast<char*>(rows.mutable_data_ptr());
    for (const std::int64_t sample : samples) {
      std::memcpy(to, column.row(sample), column.row_bytes);
      to += column.row_bytes;
    }
    batch.tensors.emplace(name, rows);
  }
  return batch;
}

std::vector<DataInput> TensorTable::inputs() const {
  std::vector<DataInput> inputs;
  for (const auto& file : files_->mapped) {
    file->check_whole();
    DataInput& input = inputs.emplace_back();
    input.name = file->path().string();
    add_content(input, file->bytes());
  }
  return inputs;
}

}  // namespace pagoda
