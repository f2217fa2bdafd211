#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// The rows of a decoder: which source each belongs to, and where what it decoded so far was computed.
class DecoderRows {
 public:
  /// One row for each source.
  explicit DecoderRows(std::vector<std::int64_t> source_lengths);

  /// Every row gets one more token, in the row that it is now.
  void add_step();
  /// Row r goes on from row numbers[r].
  void select(const std::vector<std::int64_t>& numbers);

  std::int64_t count() const { return std::ssize(sources_); }
  std::int64_t steps() const { return steps_; }
  std::int64_t source(std::int64_t row) const { return sources_[index(row)]; }
  std::int64_t source_length(std::int64_t row) const { return lengths_[index(source(row))]; }
  /// The row in which it was computed, by step.
  const std::vector<std::int64_t>& past(std::int64_t row) const { return pasts_[index(row)]; }

 private:
  static std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

  std::vector<std::int64_t> lengths_;  // by source
  std::vector<std::int64_t> sources_;  // by row
  std::vector<std::vector<std::int64_t>> pasts_;
  std::int64_t steps_ = 0;
};

/// Keys and values of what one layer decoded. They stay where they were computed: rows that are
/// reordered only change what DecoderRows says.
class GrownCache {
 public:
  /// `queries_keys_values` [rows, 3 · hidden] of the newest token, after DecoderRows::add_step; what the
  /// heads find among all tokens of each row [rows, hidden].
  at::Tensor add_and_attend(const at::Tensor& queries_keys_values, std::int64_t heads,
                            const DecoderRows& rows);

 private:
  std::vector<at::Tensor> steps_;  // [rows of that step, 3 · hidden]
};

/// Keys and values of the sources, for one layer: one copy for all rows of a source.
class SourceCache {
 public:
  /// `keys_values` [sources, places, 2 · hidden].
  explicit SourceCache(const at::Tensor& keys_values);

  /// What the heads find in each row's source [rows, hidden]. `weights`, if not null, becomes the mean
  /// over the heads [rows, places].
  at::Tensor attend(const at::Tensor& queries, std::int64_t heads, const DecoderRows& rows,
                    at::Tensor* weights) const;

 private:
  const at::Tensor keys_values_;
};

}  // namespace pagoda
