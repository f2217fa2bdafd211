#include "models/attention_cache.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "models/decoding_kernels.h"
#include "models/narrow_products.h"

namespace pagoda {
namespace {

bool has_kernel(const at::Tensor& tensor) {
  return tensor.is_cpu() &&
         (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble);
}

/// Attention of rows that each have keys and values of their own, by a kernel.
template <class T>
class RowsAttention {
 public:
  RowsAttention(const at::Tensor& queries, std::int64_t heads)
      : queries_(queries),
        heads_(heads),
        hidden_(queries.size(1)),
        result_(at::empty(queries.sizes(), queries.options())) {}

  void add_place(const T* key, const T* value) {
    keys_.push_back(key);
    values_.push_back(value);
  }
  /// The places that were added since the last row are this one's.
  void end_row() { ends_.push_back(std::ssize(keys_)); }

  /// What the rows find. `weights`, if not null, gets `width` numbers for each row.
  at::Tensor run(double* weights, std::int64_t width) {
    std::vector<T> scratch(static_cast<std::size_t>(attention_scratch<T>(most_places())));
    for (std::int64_t row = 0; row < std::ssize(ends_); ++row) {
      const Places now = places(row), next = places(row + 1);
      attend_one(AttendOne<T>{.query = queries_.const_data_ptr<T>() + row * queries_.stride(0),
                              .heads = heads_,
                              .size = hidden_ / heads_,
                              .keys = now.keys,
                              .values = now.values,
                              .places = now.count,
                              .scratch = scratch.data(),
                              .result = result_.mutable_data_ptr<T>() + row * hidden_,
                              .weights = weights == nullptr ? nullptr : weights + row * width,
                              .next_keys = next.keys,
                              .next_values = next.values,
                              .next_places = next.count});
    }
    return result_;
  }

 private:
  struct Places {
    const T* const* keys;
    const T* const* values;
    std::int64_t count;
  };

  /// Those of a row; none after the last.
  Places places(std::int64_t row) const {
    if (row == std::ssize(ends_)) return {nullptr, nullptr, 0};
    const std::int64_t begin = row == 0 ? 0 : ends_[static_cast<std::size_t>(row) - 1];
    return {keys_.data() + begin, values_.data() + begin,
            ends_[static_cast<std::size_t>(row)] - begin};
  }

  std::int64_t most_places() const {
    std::int64_t most = 0;
    for (std::int64_t row = 0; row < std::ssize(ends_); ++row)
      most = std::max(most, places(row).count);
    return most;
  }

  const at::Tensor queries_;
  const std::int64_t heads_;
  const std::int64_t hidden_;
  at::Tensor result_;
  std::vector<const T*> keys_, values_;
  std::vector<std::int64_t> ends_;  // of each row, among these
};

template <class T>
at::Tensor attend_grown(const std::vector<at::Tensor>& steps, std::int64_t heads,
                        const DecoderRows& rows) {
  const std::int64_t hidden = steps.back().size(1) / 3;
  RowsAttention<T> attention(steps.back().narrow(1, 0, hidden), heads);
  std::vector<const T*> bases;
  for (const at::Tensor& step : steps) bases.push_back(step.const_data_ptr<T>());
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    const auto& past = rows.past(row);
    for (std::size_t t = 0; t < bases.size(); ++t) {
      const T* const key = bases[t] + past[t] * 3 * hidden + hidden;
      attention.add_place(key, key + hidden);
    }
    attention.end_row();
  }
  return attention.run(nullptr, 0);
}

template <class T>
at::Tensor attend_sources(const at::Tensor& queries, const at::Tensor& keys_values,
                          std::int64_t heads, const DecoderRows& rows, at::Tensor* weights) {
  const std::int64_t hidden = queries.size(1);
  const std::int64_t places = keys_values.size(1);
  if (weights != nullptr) *weights = at::zeros({rows.count(), places}, at::kDouble);
  RowsAttention<T> attention(queries, heads);
  const T* const base = keys_values.const_data_ptr<T>();
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    for (std::int64_t i = 0; i < rows.source_length(row); ++i) {
      const T* const key = base + (rows.source(row) * places + i) * 2 * hidden;
      attention.add_place(key, key + hidden);
    }
    attention.end_row();
  }
  return attention.run(weights == nullptr ? nullptr : weights->mutable_data_ptr<double>(), places);
}

/// By LibTorch's operators: `queries` [rows, hidden], `keys` and `values` [rows, places, hidden],
/// `mask` [rows, 1, places] true for the places that are there, or undefined.
at::Tensor attend_by_operators(const at::Tensor& queries, const at::Tensor& keys,
                               const at::Tensor& values, const at::Tensor& mask, std::int64_t heads,
                               at::Tensor* weights) {
  const std::int64_t size = queries.size(1) / heads;
  const at::Tensor q = queries.view({queries.size(0), heads, 1, size});
  const at::Tensor k = keys.unflatten(2, {heads, size}).permute({0, 2, 3, 1});
  const at::Tensor v = values.unflatten(2, {heads, size}).transpose(1, 2);
  at::Tensor scores = at::matmul(q, k).squeeze(2) / std::sqrt(static_cast<double>(size));
  if (mask.defined())
    scores = scores.masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
  const at::Tensor shares = scores.softmax(-1);
  if (weights != nullptr) *weights = shares.mean(1).to(at::kDouble);
  return at::matmul(shares.unsqueeze(2), v).flatten(1);
}

}  // namespace

DecoderRows::DecoderRows(std::vector<std::int64_t> source_lengths)
    : lengths_(std::move(source_lengths)), pasts_(lengths_.size()) {
  for (std::int64_t i = 0; i < std::ssize(lengths_); ++i) sources_.push_back(i);
}

void DecoderRows::add_step() {
  for (std::size_t row = 0; row < pasts_.size(); ++row)
    pasts_[row].push_back(static_cast<std::int64_t>(row));
  ++steps_;
}

void DecoderRows::select(const std::vector<std::int64_t>& numbers) {
  std::vector<std::int64_t> sources;
  std::vector<std::vector<std::int64_t>> pasts;
  for (const std::int64_t number : numbers) {
    sources.push_back(source(number));
    pasts.push_back(past(number));
  }
  sources_ = std::move(sources);
  pasts_ = std::move(pasts);
}

at::Tensor GrownCache::add_and_attend(const at::Tensor& queries_keys_values, std::int64_t heads,
                                      const DecoderRows& rows) {
  steps_.push_back(widened_by_autocast(queries_keys_values).contiguous());
  const at::Tensor& newest = steps_.back();
  if (has_kernel(newest)) {
    return newest.scalar_type() == at::kFloat ? attend_grown<float>(steps_, heads, rows)
                                              : attend_grown<double>(steps_, heads, rows);
  }
  std::vector<std::int64_t> offsets{0};
  for (const at::Tensor& step : steps_) offsets.push_back(offsets.back() + step.size(0));
  std::vector<std::int64_t> where;
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    const auto& past = rows.past(row);
    for (std::size_t t = 0; t < past.size(); ++t) where.push_back(offsets[t] + past[t]);
  }
  const at::Tensor all = at::cat(steps_)
                             .index_select(0, at::tensor(where, at::kLong).to(newest.device()))
                             .view({rows.count(), std::ssize(steps_), newest.size(1)});
  const auto parts = all.chunk(3, 2);
  return attend_by_operators(newest.narrow(1, 0, newest.size(1) / 3).contiguous(), parts[1],
                             parts[2], {}, heads, nullptr);
}

SourceCache::SourceCache(const at::Tensor& keys_values)
    : keys_values_(widened_by_autocast(keys_values).contiguous()) {}

at::Tensor SourceCache::attend(const at::Tensor& queries, std::int64_t heads,
                               const DecoderRows& rows, at::Tensor* weights) const {
  const at::Tensor asked = widened_by_autocast(queries).contiguous();
  if (has_kernel(asked)) {
    return asked.scalar_type() == at::kFloat
               ? attend_sources<float>(asked, keys_values_, heads, rows, weights)
               : attend_sources<double>(asked, keys_values_, heads, rows, weights);
  }
  std::vector<std::int64_t> sources, lengths;
  for (std::int64_t row = 0; row < rows.count(); ++row) {
    sources.push_back(rows.source(row));
    lengths.push_back(rows.source_length(row));
  }
  const at::Tensor all =
      keys_values_.index_select(0, at::tensor(sources, at::kLong).to(asked.device()));
  const at::Tensor mask =
      (at::arange(all.size(1)) < at::tensor(lengths, at::kLong).unsqueeze(1)).unsqueeze(1);
  const auto parts = all.chunk(2, 2);
  return attend_by_operators(asked, parts[0], parts[1], mask.to(asked.device()), heads, weights);
}

}  // namespace pagoda
