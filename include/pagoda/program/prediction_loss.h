#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// Losses for a program that returns predictions.
enum class PredictionLoss {
  cross_entropy,  ///< logits [N, classes, …]; targets are class numbers or class probabilities
  nll,            ///< log-probabilities [N, classes, …]; targets are class numbers
  mse,            ///< mean squared error
  bce,            ///< binary cross-entropy of logits; targets are 0, 1 or a probability
};

/// Which loss, and its options.
struct PredictionLossOptions {
  /// How predictions are compared with targets.
  PredictionLoss loss = PredictionLoss::cross_entropy;
  /// The fraction of a target that is spread over all classes; for cross_entropy and bce only.
  double label_smoothing = 0;
};

/// The mean loss. For mse and bce, predictions whose last dimension is 1 also fit targets without
/// it.
/// Fails: UsageError when the shapes do not fit, or label smoothing is outside [0, 1) or not for
/// this loss.
///
/// Example: `return prediction_loss(model(batch.input)[0], batch.target, {.label_smoothing = 0.1});`
at::Tensor prediction_loss(const at::Tensor& predictions, const at::Tensor& targets,
                           const PredictionLossOptions& options = {});

/// For cross_entropy and nll, the fraction of targets whose class has the largest prediction; for
/// bce, the fraction of predictions with the right sign. Undefined for mse, which has no accuracy.
at::Tensor prediction_accuracy(const at::Tensor& predictions, const at::Tensor& targets,
                               PredictionLoss loss);

}  // namespace pagoda
