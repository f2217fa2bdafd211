#pragma once

// Checkpoints whose every number is a formula of the step.

#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/checkpoint/state_dict.h>

#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include <torch/torch.h>

#include "checkpoint/checkpoint_fields.h"
#include "support/crafted_archive.h"
#include "support/scratch_directory.h"

namespace pagoda::testing {

inline Checkpoint checkpoint_of(std::int64_t step) {
  const double value = static_cast<double>(step);
  return {
      .model = {{"a.weight", torch::full({3, 2}, value)}, {"a.bias", torch::full({2}, value + 1)}},
      .average = {{"a.weight", torch::full({3, 2}, value / 2)}},
      .optimizer = {{"mean/a.weight", torch::full({3, 2}, -value)},
                    {"updates", torch::full({1}, step)}},
      .torch_optimizer = torch::arange(step, torch::kByte),
      .state = {.step = step,
                .position = {.epoch = step / 10, .consumed = step % 10 * 64},
                .samples = 64 * value,
                .best = 0.5 + value / 1000,
                .best_step = step - 1,
                .stale_validations = 1,
                .lowest_loss = 2 - value / 1000,
                .stalled_validations = 2,
                .rate_factor = 0.25},
      .seed = 0xFFFFFFFFFFFFFFF0u,
      .towers = 2,
      .config = "seed = 1\n"};
}

/// A checkpoint as a later version of Pagoda may write it: only its number is known.
inline void write_newer_checkpoint(const std::filesystem::path& path) {
  write_file(path, saved_archive(pickled_dict("format", std::string("K\2", 2))));
}

template <class Field>
bool equal_fields(const Field& a, const Field& b) {
  return a == b;
}
inline bool equal_fields(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || a.equal(b));
}
inline bool equal_fields(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  if (!differences(a, b).empty()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name || !a[i].tensor.equal(b[i].tensor)) return false;
  }
  return true;
}

/// The names of the fields in which two checkpoints are not the same, bit for bit.
inline std::vector<std::string> differing_fields(const Checkpoint& a, const Checkpoint& b) {
  std::vector<std::string> names;
  visit_fields(a, [&](const std::string& name, const auto& field, Absent) {
    visit_fields(b, [&](const char* other_name, const auto& other, Absent) {
      if constexpr (std::is_same_v<decltype(field), decltype(other)>) {
        if (name == other_name && !equal_fields(field, other)) names.push_back(name);
      }
    });
  });
  return names;
}

inline bool same(const Checkpoint& a, const Checkpoint& b) {
  return differing_fields(a, b).empty();
}

}  // namespace pagoda::testing
