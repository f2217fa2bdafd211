#pragma once

#include <pagoda/tower/parameter_placement.h>
#include <pagoda/tower/precision.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace pagoda {

/// How images (4-dimensional floating-point tensors) lie in memory. The numbers and shapes that a
/// model sees are the same; `channels_last` is faster for convolutions.
enum class ImageFormat { channels_last, contiguous };

/// What towers are built with.
struct TowerOptions {
  /// Seed of the initial values and of every tower's random stream.
  std::uint64_t seed = 0;
  /// Where other processes train the same model: the number of the first tower of this one among all
  /// of them, so that no two towers draw the same random numbers.
  int first_tower = 0;
  ImageFormat image_format = ImageFormat::channels_last;  ///< how images lie in memory
  /// Unset: shared where all towers are CPU towers, host otherwise.
  std::optional<ParameterPlacement> placement = std::nullopt;
  /// What forward and loss compute in, in training and in evaluation.
  Precision precision = Precision::fp32;
  /// BatchNorm layers of the unchanged model (modules and functional::batch_norm) normalise by the
  /// statistics of all towers' feeds together, not of each tower's own: N towers then equal one. Each
  /// layer waits for all towers, forward and backward. For SyncStep, and for towers on different
  /// cards or on CPU cores; every tower must call the same layers in the same order.
  bool sync_batch_norm = false;
  /// The factory has put the replica's tensors where they belong; otherwise all go to the tower's
  /// device.
  bool factory_places = false;
  /// How long one phase of a step may take before the late tower is reported as an error.
  std::chrono::milliseconds timeout = std::chrono::minutes(30);
};

}  // namespace pagoda
