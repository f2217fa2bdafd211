#pragma once

#include <pagoda/pipeline/pipeline.h>

#include <cstdint>
#include <optional>

namespace pagoda {

/// Micro-batches of a tower that is cut into stages, unless the user wants another number.
inline constexpr int kMicroBatches = 4;

/// How a model is cut into stages, and how its micro-batches pass through them.
struct StageChoice {
  StageOptions cut = {};          ///< where the model is cut
  PipelineOptions pipeline = {};  ///< in which order micro-batches go
  /// Parts of a tower's batch that are in flight; unset: kMicroBatches with stages, otherwise 1.
  std::optional<int> micro_batches = std::nullopt;

  /// Whether there is more than one stage.
  bool is_staged() const { return cut.stages > 1; }

  /// Micro-batches that a tower's batch is cut into.
  int parts() const { return micro_batches.value_or(is_staged() ? kMicroBatches : 1); }

  /// Samples (or tokens) of a micro-batch. Fails: UsageError when the batch cannot be divided.
  std::int64_t part_of(std::int64_t batch) const;
};

/// Towers that so many devices are. Fails: UsageError when they cannot be divided by the stages, or
/// an option is given that needs stages.
int tower_count(const StageChoice& choice, std::size_t devices);

}  // namespace pagoda
