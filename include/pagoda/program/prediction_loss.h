#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// Losses for a program that returns predictions.
enum class PredictionLoss {
  cross_entropy,  ///< logits [N, classes, …]; targets are class numbers, or probabilities of all
  nll,            ///< logarithms of probabilities [N, classes, …]; targets are class numbers
  mse,            ///< mean of squared differences
  bce,            ///< logits; targets are 0, 1 or a probability
};

/// Which loss, and how.
struct PredictionLossOptions {
  /// How predictions are compared with targets.
  PredictionLoss loss = PredictionLoss::cross_entropy;
  /// The part of a target that is spread over all classes; of cross-entropy and bce alone.
  double label_smoothing = 0;
};

/// The mean loss of the rows. Predictions of one column fit targets without columns.
/// Fails: UsageError when the shapes do not fit, or the label smoothing is not of this loss or not
/// from 0 to less than 1.
///
/// Example: `return prediction_loss(model(batch.input)[0], batch.target, {.label_smoothing = 0.1});`
at::Tensor prediction_loss(const at::Tensor& predictions, const at::Tensor& targets,
                           const PredictionLossOptions& options = {});

/// The part of the rows whose largest prediction is the target's: of cross-entropy and nll. For bce,
/// the part of the predictions that are on the right side. Undefined where there is no such thing.
at::Tensor prediction_accuracy(const at::Tensor& predictions, const at::Tensor& targets,
                               PredictionLoss loss);

}  // namespace pagoda
