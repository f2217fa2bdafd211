#pragma once

#include <pagoda/pipeline/pipeline.h>

#include <cstdint>
#include <optional>

namespace pagoda {

/// Default number of micro-batches for a tower that is cut into stages.
inline constexpr int kMicroBatches = 4;

/// How a model is cut into stages, and how its micro-batches pass through them.
struct StageChoice {
  StageOptions cut = {};          ///< where the model is cut
  PipelineOptions pipeline = {};  ///< how micro-batches pass through the stages
  /// Micro-batches that a tower's batch is cut into; unset: kMicroBatches with stages, otherwise 1.
  std::optional<int> micro_batches = std::nullopt;

  /// Whether there is more than one stage.
  bool is_staged() const { return cut.stages > 1; }

  /// Number of micro-batches that a tower's batch is cut into.
  int parts() const { return micro_batches.value_or(is_staged() ? kMicroBatches : 1); }

  /// Samples (or tokens) in a micro-batch. Fails: UsageError when the batch cannot be divided.
  std::int64_t part_of(std::int64_t batch) const;
};

/// Number of towers that this many devices make. Fails: UsageError when the devices cannot be
/// divided by the stages, or when an option that needs stages is set without them.
int tower_count(const StageChoice& choice, std::size_t devices);

}  // namespace pagoda
