#pragma once

#include <pagoda/data/batch.h>
#include <pagoda/data/data_input.h>

#include <cstdint>
#include <span>
#include <vector>

namespace pagoda {

/// Numbered samples, returned as feeds of type F; with Batch, it is `Dataset`. Derive from it to
/// train on your own data: two functions are enough.
///
/// Threads: `get` is called from several threads at once.
/// Fails: whatever `get` throws reaches the loop over the batches.
/// Example:
///     class Sines : public Dataset {
///      public:
///       std::int64_t size() const override { return 1000; }
///       Batch get(std::span<const std::int64_t> samples, std::int64_t) const override {
///         at::Tensor x = at::empty({std::ssize(samples), 1});
///         std::copy(samples.begin(), samples.end(), x.mutable_data_ptr<float>());
///         return {.input = x, .target = x.sin()};
///       }
///     };
template <class F>
class DatasetOf {
 public:
  virtual ~DatasetOf() = default;

  /// How many samples there are.
  virtual std::int64_t size() const = 0;

  /// The samples with these numbers (each in [0, size)) as one batch, in this order. The result may
  /// depend on the epoch (for random distortions), but on nothing else: a repeated call returns the
  /// same bits.
  virtual F get(std::span<const std::int64_t> samples, std::int64_t epoch) const = 0;

  /// What the samples were read from, for the record of a run; empty if that is not known.
  virtual std::vector<DataInput> inputs() const { return {}; }
};

/// A data set whose feeds are Batch.
using Dataset = DatasetOf<Batch>;

/// A data set of tensors in memory: sample i is row i of `input` and of `target`.
class TensorDataset : public Dataset {
 public:
  /// Fails: UsageError when the numbers of rows differ, or a tensor has no dimensions.
  TensorDataset(at::Tensor input, at::Tensor target);

  std::int64_t size() const override { return input_.size(0); }
  Batch get(std::span<const std::int64_t> samples, std::int64_t epoch) const override;

 private:
  at::Tensor input_;
  at::Tensor target_;
};

}  // namespace pagoda
