#include <pagoda/base/error.h>
#include <pagoda/program/prediction_loss.h>

#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace prediction_loss_test {

double number(const at::Tensor& tensor) { return tensor.item<double>(); }

TEST(PredictionLossTest, LossesAreTheirFormulas) {
  const at::Tensor logits = at::zeros({3, 4}, at::kDouble);
  const at::Tensor classes = at::tensor({0, 3, 1}, at::kLong);
  EXPECT_NEAR(number(prediction_loss(logits, classes)), std::log(4.0), 1e-12);
  EXPECT_NEAR(number(prediction_loss(logits, classes, {.label_smoothing = 0.5})), std::log(4.0),
              1e-12);
  EXPECT_NEAR(number(prediction_loss(at::full({3, 4}, -2.0, at::kDouble), classes,
                                     {.loss = PredictionLoss::nll})),
              2.0, 1e-12);
  const at::Tensor x = at::tensor({1.0, 2.0, 4.0}, at::kDouble);
  EXPECT_NEAR(number(prediction_loss(x.unsqueeze(1), at::tensor({0, 2, 2}, at::kLong),
                                     {.loss = PredictionLoss::mse})),
              5.0 / 3, 1e-12);
  EXPECT_NEAR(number(prediction_loss(at::zeros({2}, at::kDouble), at::tensor({0, 1}, at::kLong),
                                     {.loss = PredictionLoss::bce})),
              std::log(2.0), 1e-12);
  const double smooth =
      number(prediction_loss(at::full({1}, 3.0, at::kDouble), at::ones({1}),
                             {.loss = PredictionLoss::bce, .label_smoothing = 0.2}));
  EXPECT_NEAR(smooth, std::log1p(std::exp(3.0)) - 0.9 * 3.0, 1e-12);
}

TEST(PredictionLossTest, AccuracyCountsWhatIsRight) {
  const at::Tensor logits = at::tensor({1.0, 2.0, 5.0, 3.0}).view({2, 2});
  EXPECT_EQ(number(prediction_accuracy(logits, at::tensor({1, 1}, at::kLong),
                                       PredictionLoss::cross_entropy)),
            0.5);
  EXPECT_EQ(number(prediction_accuracy(at::tensor({1.0, -1.0, 2.0, -3.0}),
                                       at::tensor({1, 0, 0, 0}, at::kLong), PredictionLoss::bce)),
            0.75);
  EXPECT_FALSE(prediction_accuracy(logits, logits, PredictionLoss::mse).defined());
}

TEST(PredictionLossTest, WhatDoesNotFitIsRefused) {
  const at::Tensor logits = at::zeros({3, 4});
  EXPECT_THROW(prediction_loss(logits, at::zeros({3, 4}, at::kLong)), UsageError);
  EXPECT_THROW(prediction_loss(logits, at::zeros({2}), {.loss = PredictionLoss::mse}), UsageError);
  EXPECT_THROW(prediction_loss(logits, logits, {.label_smoothing = 1.0}), UsageError);
  EXPECT_THROW(
      prediction_loss(logits, logits, {.loss = PredictionLoss::mse, .label_smoothing = 0.1}),
      UsageError);
}

}  // namespace prediction_loss_test
}  // namespace pagoda
