#include <pagoda/base/error.h>
#include <pagoda/program/prediction_loss.h>

#include <sstream>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

namespace pagoda {
namespace {

bool counts_classes(PredictionLoss loss) {
  return loss == PredictionLoss::cross_entropy || loss == PredictionLoss::nll;
}

[[noreturn]] void refuse_shapes(const at::Tensor& predictions, const at::Tensor& targets) {
  std::ostringstream text;
  text << "predictions of shape " << predictions.sizes() << " and targets of shape "
       << targets.sizes() << " do not fit this loss";
  throw UsageError(text.str());
}

void check_smoothing(const PredictionLossOptions& options) {
  const double smoothing = options.label_smoothing;
  const bool has_it =
      options.loss == PredictionLoss::cross_entropy || options.loss == PredictionLoss::bce;
  if (!(smoothing >= 0 && smoothing < 1))
    throw UsageError("the label smoothing must be from 0 to less than 1");
  if (smoothing > 0 && !has_it) throw UsageError("only cross-entropy and bce have label smoothing");
}

/// Targets of the predictions' shape and type.
at::Tensor fitting_targets(const at::Tensor& predictions, const at::Tensor& targets) {
  const bool one_column = predictions.dim() == targets.dim() + 1 && predictions.size(-1) == 1;
  const at::Tensor shaped = one_column ? targets.unsqueeze(-1) : targets;
  if (shaped.sizes() != predictions.sizes()) refuse_shapes(predictions, targets);
  return shaped.to(predictions.scalar_type());
}

void check_classes(const at::Tensor& predictions, const at::Tensor& targets) {
  const bool numbers = predictions.dim() == targets.dim() + 1 && predictions.dim() >= 2;
  const bool probabilities = targets.is_floating_point() && targets.sizes() == predictions.sizes();
  if (!numbers && !probabilities) refuse_shapes(predictions, targets);
}

}  // namespace

at::Tensor prediction_loss(const at::Tensor& predictions, const at::Tensor& targets,
                           const PredictionLossOptions& options) {
  check_smoothing(options);
  if (counts_classes(options.loss)) check_classes(predictions, targets);
  switch (options.loss) {
    case PredictionLoss::cross_entropy:
      return at::cross_entropy_loss(predictions, targets, {}, at::Reduction::Mean, -100,
                                    options.label_smoothing);
    case PredictionLoss::nll:
      return at::nll_loss_nd(predictions, targets);
    case PredictionLoss::mse:
      return at::mse_loss(predictions, fitting_targets(predictions, targets));
    case PredictionLoss::bce:
      break;
  }
  const at::Tensor fitting = fitting_targets(predictions, targets);
  const double smoothing = options.label_smoothing;
  return at::binary_cross_entropy_with_logits(
      predictions, smoothing > 0 ? fitting * (1 - smoothing) + smoothing / 2 : fitting);
}

at::Tensor prediction_accuracy(const at::Tensor& predictions, const at::Tensor& targets,
                               PredictionLoss loss) {
  const at::NoGradGuard no_grad;
  if (loss == PredictionLoss::mse) return {};
  if (loss == PredictionLoss::bce)
    return predictions.gt(0)
        .eq(fitting_targets(predictions, targets).gt(0.5))
        .to(at::kFloat)
        .mean();
  const at::Tensor classes = targets.sizes() == predictions.sizes() ? targets.argmax(1) : targets;
  return predictions.argmax(1).eq(classes).to(at::kFloat).mean();
}

}  // namespace pagoda
