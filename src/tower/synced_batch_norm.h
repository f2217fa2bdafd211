#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

#include "tower/batch_norm_exchange.h"

namespace pagoda {

/// What at::batch_norm gets in training.
struct BatchNormInput {
  const at::Tensor& input;  // [samples, channels, ...]
  const std::optional<at::Tensor>& weight;
  const std::optional<at::Tensor>& bias;
  const std::optional<at::Tensor>& running_mean;
  const std::optional<at::Tensor>& running_var;
  double momentum;
  double epsilon;
};

/// at::batch_norm with the statistics of all towers of the turn, in forward and backward; the
/// running statistics are updated by them too.
/// Fails: as BatchNormExchange; UsageError for less than two values for each channel on all towers
/// together, and for a backward that is to be differentiated itself.
at::Tensor synced_batch_norm(BatchNormTurn& turn, const BatchNormInput& given);

/// Fails: UsageError when the smallest feed to come has a single value for each channel, which cannot
/// be normalised. `input` is what a BatchNorm layer got in training.
void check_smallest_feed(const BatchNormTurn& turn, const at::Tensor& input);

}  // namespace pagoda
