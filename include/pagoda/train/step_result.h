#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pagoda {

/// The outcome of a step.
struct StepResult {
  std::int64_t step = 0;  ///< its number, from 0
  double loss = 0;        ///< weighted mean over all feeds
  /// The same for each tower; NaN for a tower that had no feed.
  std::vector<double> tower_losses = {};
  /// Weighted means of the metrics that the loss function returned.
  std::vector<std::pair<std::string, double>> metrics = {};
  double weight = 0;         ///< total weight of all feeds: the number of samples
  double learning_rate = 0;  ///< of this step
  /// Norm of the combined gradient before clipping, where it was measured; for an asynchronous
  /// step, the mean over its updates.
  std::optional<double> grad_norm = std::nullopt;
  /// A loss or a gradient was not finite, and nothing was updated; for an asynchronous step: at
  /// least one update was skipped.
  bool skipped = false;
  /// What the loss was multiplied by; fp16 only.
  std::optional<double> loss_scale = std::nullopt;
  /// Updates that were skipped because the scaled gradient overflowed: 1 for a synchronous step
  /// that was skipped for that reason.
  std::int64_t overflows = 0;
  /// Asynchronous steps only, by tower: the mean number of updates between its reads of the
  /// parameters and its own updates; NaN for a tower that made none.
  std::vector<double> staleness = {};
};

}  // namespace pagoda
