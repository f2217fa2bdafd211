#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pagoda {

/// How a step went.
struct StepResult {
  std::int64_t step = 0;  ///< its number, from 0
  double loss = 0;        ///< mean over all feeds, weighted
  /// The same for each tower; nan for a tower that had no feed.
  std::vector<double> tower_losses = {};
  /// Weighted means of what the loss function gave.
  std::vector<std::pair<std::string, double>> metrics = {};
  double weight = 0;         ///< of all feeds together: the number of samples
  double learning_rate = 0;  ///< of this step
  /// Of the combined gradient before its clip, where measured.
  std::optional<double> grad_norm = std::nullopt;
  bool skipped = false;  ///< a loss or gradient was not finite and nothing was updated
  /// What the loss was multiplied by, in fp16.
  std::optional<double> loss_scale = std::nullopt;
  /// Updates that were left out because the scaled gradient overflowed: 1 for a synchronous step that
  /// was skipped for it.
  std::int64_t overflows = 0;
  /// Asynchronous steps only, by tower: the mean number of updates between its read of the
  /// parameters and its own update; nan for a tower that made none.
  std::vector<double> staleness = {};
};

}  // namespace pagoda
