#pragma once

#include <pagoda/pipeline/pipeline.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace pagoda::app {

/// Micro-batches of a tower that is cut into stages, unless the user wants another number.
inline constexpr int kMicroBatches = 4;

/// How a model is cut into stages, and how its micro-batches pass through them.
struct PipelineFlags {
  int stages = StageOptions{}.stages;
  std::string stage_layers;
  std::optional<int> micro_batches;
  std::string schedule = "1f1b";
  bool checkpoint_activations = PipelineOptions{}.checkpoint_activations;
  std::string output_layer = "last-stage";

  /// Micro-batches that a tower's batch is cut into: 1 without stages unless it is asked for.
  int parts() const { return micro_batches.value_or(stages > 1 ? kMicroBatches : 1); }
  /// Samples (or tokens) of a micro-batch. Fails: UsageError when the batch cannot be divided.
  std::int64_t part_of(std::int64_t batch) const;
};
void add_pipeline_flags(CLI::App& command, PipelineFlags& flags);

/// Towers that so many devices are. Fails: UsageError when they cannot be divided by the stages, or
/// an option is given that needs stages.
int tower_count(const PipelineFlags& flags, std::size_t devices);

/// Fails: UsageError when --stage-layers is no list of numbers.
StageOptions stage_options(const PipelineFlags& flags);
PipelineOptions pipeline_options(const PipelineFlags& flags);

}  // namespace pagoda::app
