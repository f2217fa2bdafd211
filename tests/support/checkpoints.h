#pragma once

// Checkpoints whose every number is a formula of the step.

#include <pagoda/checkpoint/checkpoint.h>
#include <pagoda/checkpoint/state_dict.h>

#include <filesystem>
#include <string>
#include <vector>

#include <torch/torch.h>

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
      .step = step,
      .epoch = step / 10,
      .consumed = step % 10 * 64,
      .samples = 64 * value,
      .seed = 0xFFFFFFFFFFFFFFF0u,
      .towers = 2,
      .best = 0.5 + value / 1000,
      .best_step = step - 1,
      .stale_validations = 1,
      .lowest_loss = 2 - value / 1000,
      .stalled_validations = 2,
      .rate_factor = 0.25,
      .config = "seed = 1\n"};
}

/// A checkpoint as a later version of Pagoda may write it: only its number is known.
inline void write_newer_checkpoint(const std::filesystem::path& path) {
  write_file(path, saved_archive(pickled_dict("format", std::string("K\2", 2))));
}

inline bool same(const Checkpoint& a, const Checkpoint& b) {
  const auto equal = [](const std::vector<NamedTensor>& x, const std::vector<NamedTensor>& y) {
    if (!differences(x, y).empty()) return false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i].name != y[i].name || !x[i].tensor.equal(y[i].tensor)) return false;
    }
    return true;
  };
  const auto same_bytes = [](const at::Tensor& x, const at::Tensor& y) {
    return x.defined() == y.defined() && (!x.defined() || x.equal(y));
  };
  return same_bytes(a.torch_optimizer, b.torch_optimizer) && equal(a.model, b.model) &&
         equal(a.average, b.average) && equal(a.optimizer, b.optimizer) && a.step == b.step &&
         a.epoch == b.epoch && a.consumed == b.consumed && a.samples == b.samples &&
         a.seed == b.seed && a.towers == b.towers && a.best == b.best &&
         a.best_step == b.best_step && a.stale_validations == b.stale_validations &&
         a.lowest_loss == b.lowest_loss && a.stalled_validations == b.stalled_validations &&
         a.rate_factor == b.rate_factor && a.config == b.config;
}

}  // namespace pagoda::testing
