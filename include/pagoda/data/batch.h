#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// Samples for one tower and one step (a feed): inputs and targets with the samples as first
/// dimension.
///
/// Another type can take its place wherever a step or an evaluation takes feeds. It needs the same
/// three functions: `weight`, `sample_numbers` and `with_tensors`.
struct Batch {
  at::Tensor input;   ///< what the model takes
  at::Tensor target;  ///< what its output is compared with
  /// Numbers of the samples in their data set, for messages; may be empty.
  std::vector<std::int64_t> samples = {};

  /// How much the batch counts beside others: the number of its samples.
  double weight() const { return static_cast<double>(input.size(0)); }

  /// For messages: see `samples`.
  const std::vector<std::int64_t>& sample_numbers() const { return samples; }

  /// The same batch with every tensor replaced by `change(tensor)`.
  template <class Change>
  Batch with_tensors(Change change) const {
    return {.input = change(input), .target = change(target), .samples = samples};
  }
};

}  // namespace pagoda
