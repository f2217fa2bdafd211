#pragma once

#include <pagoda/tower/parameter_placement.h>
#include <pagoda/tower/precision.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace pagoda {

/// How images (4-dimensional floating-point tensors) are laid out in memory. A model sees the same
/// numbers and shapes either way; `channels_last` is faster for convolutions.
enum class ImageFormat { channels_last, contiguous };

/// How towers are built.
struct TowerOptions {
  /// Seed of the initial values and of every tower's random stream.
  std::uint64_t seed = 0;
  /// If other processes train the same model: the number of this process's first tower among all
  /// their towers, so that no two towers draw the same random numbers.
  int first_tower = 0;
  ImageFormat image_format = ImageFormat::channels_last;  ///< memory layout of images
  /// Unset: shared if all towers are CPU towers, host otherwise.
  std::optional<ParameterPlacement> placement = std::nullopt;
  /// Precision of forward and loss, in training and in evaluation.
  Precision precision = Precision::fp32;
  /// BatchNorm layers of the unchanged model (modules and functional::batch_norm) normalise by the
  /// statistics of all towers' feeds together instead of each tower's own: N towers then equal one.
  /// Each layer waits for all towers, in forward and in backward. Only for SyncStep, with towers on
  /// different cards or on CPU cores; every tower must call the same layers in the same order.
  bool sync_batch_norm = false;
  /// Whether the factory puts the replica's tensors where they belong; otherwise all are moved to
  /// the tower's device.
  bool factory_places = false;
  /// How long one phase of a step may take before a late tower is reported as an error; at least
  /// 1 ms.
  std::chrono::milliseconds timeout = std::chrono::minutes(30);
};

}  // namespace pagoda
