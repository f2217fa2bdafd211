#pragma once

#include <pagoda/data/batch.h>

#include <cstdint>
#include <span>

namespace pagoda {

/// Numbered samples. Derive from it to train on data of your own: two functions are enough.
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
class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual std::int64_t size() const = 0;

  /// The samples with these numbers (each in [0, size)) as one batch, in this order. What it gives
  /// may depend on the epoch (random distortions), but on nothing else: a repeated call gives the
  /// same bits.
  virtual Batch get(std::span<const std::int64_t> samples, std::int64_t epoch) const = 0;
};

/// Samples that are already tensors in memory: row i of `input` and of `target` is sample i.
class TensorDataset : public Dataset {
 public:
  /// Fails: UsageError when the two have different numbers of rows.
  TensorDataset(at::Tensor input, at::Tensor target);

  std::int64_t size() const override { return input_.size(0); }
  Batch get(std::span<const std::int64_t> samples, std::int64_t epoch) const override;

 private:
  at::Tensor input_;
  at::Tensor target_;
};

}  // namespace pagoda
