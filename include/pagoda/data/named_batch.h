#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// Samples for one tower and one step (a feed), with any number of named tensors; each has the
/// samples as its first dimension.
///
/// Example: `model(feed.get("image"), feed.get("mask"))`
struct NamedBatch {
  std::map<std::string, at::Tensor> tensors;  ///< by name
  /// The numbers of the samples in their data set, for messages; may be empty.
  std::vector<std::int64_t> samples = {};

  /// The tensor of this name. Fails: UsageError, which lists the existing names, if there is none.
  const at::Tensor& get(const std::string& name) const;

  /// The weight of the batch among the feeds of a step: its number of samples.
  double weight() const {
    return tensors.empty() ? 0 : static_cast<double>(tensors.begin()->second.size(0));
  }

  /// For messages: see `samples`.
  const std::vector<std::int64_t>& sample_numbers() const { return samples; }

  /// The same batch with every tensor replaced by `change(tensor)`.
  template <class Change>
  NamedBatch with_tensors(Change change) const {
    NamedBatch changed{.tensors = {}, .samples = samples};
    for (const auto& [name, tensor] : tensors) changed.tensors.emplace(name, change(tensor));
    return changed;
  }
};

}  // namespace pagoda
