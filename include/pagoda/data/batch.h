#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// Samples for one tower and one step (a feed): inputs and targets, with the samples as the first
/// dimension.
///
/// Steps and evaluations also take feeds of other types, which need the same three functions:
/// `weight`, `sample_numbers` and `with_tensors`.
struct Batch {
  at::Tensor input;   ///< the model's input
  at::Tensor target;  ///< what the model's output is compared with
  /// The numbers of the samples in their data set, for messages; may be empty.
  std::vector<std::int64_t> samples = {};

  /// The weight of the batch among the feeds of a step: its number of samples.
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
