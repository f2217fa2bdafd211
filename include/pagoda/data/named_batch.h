#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// Samples for one tower and one step (a feed) with any number of tensors, by name; each has the
/// samples as first dimension.
///
/// Example: `model(feed.get("image"), feed.get("mask"))`
struct NamedBatch {
  std::map<std::string, at::Tensor> tensors;  ///< by name
  /// Numbers of the samples in their data set, for messages; may be empty.
  std::vector<std::int64_t> samples = {};

  /// Fails: UsageError that lists the names there are.
  const at::Tensor& get(const std::string& name) const;

  /// How much the batch counts beside others: the number of its samples.
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
