#include "models/softmax_kernels.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace softmax_kernels_test {

/// Lengths around the kernel's lanes; values that overflow without care.
TEST(SoftmaxKernelsTest, EqualsTheFormulaForAwkwardLengths) {
  for (const std::int64_t count : {1, 2, 15, 16, 17, 33, 100}) {
    const auto n = static_cast<std::size_t>(count);
    std::vector<double> logits(n), bias(n), grad_bias(n, 0.5);
    std::vector<float> few(n), few_bias(n), few_grad(n, 0.5f);
    double sum = 0;
    double mean = 0;
    for (std::size_t i = 0; i < n; ++i) {
      logits[i] = 800 + std::sin(static_cast<double>(i));
      bias[i] = std::cos(static_cast<double>(i));
      few[i] = static_cast<float>(logits[i]);
      few_bias[i] = static_cast<float>(bias[i]);
      sum += std::exp(logits[i] + bias[i] - 800);
      mean += (logits[i] + bias[i]) / static_cast<double>(n);
    }
    const std::int64_t target = count / 2;
    const double log_sum = std::log(sum) + 800;
    const auto t = static_cast<std::size_t>(target);
    const double nll = log_sum - logits[t] - bias[t];
    const std::vector<double> before = logits;
    const RowLoss loss = run_row(
        SoftmaxRow<double>{logits.data(), bias.data(), grad_bias.data(), count, target, 0.1, 2.0});
    EXPECT_NEAR(loss.negative_log_likelihood, nll, 1e-9);
    EXPECT_NEAR(loss.loss, 0.9 * nll + 0.1 * (log_sum - mean), 1e-9);
    for (std::size_t i = 0; i < n; ++i) {
      const double chance = std::exp(before[i] + bias[i] - log_sum);
      const double expected = 2 * (chance - 0.1 / static_cast<double>(n) - (i == t ? 0.9 : 0));
      EXPECT_NEAR(logits[i], expected, 1e-10);
      EXPECT_NEAR(grad_bias[i], 0.5 + expected, 1e-10);
    }
    const RowLoss few_loss = run_row(
        SoftmaxRow<float>{few.data(), few_bias.data(), few_grad.data(), count, target, 0, 0});
    EXPECT_NEAR(few_loss.loss, nll, 1e-3);
    EXPECT_EQ(few_grad, std::vector<float>(n, 0.5f)) << "no gradient was asked for";
  }
}

}  // namespace softmax_kernels_test
}  // namespace pagoda
