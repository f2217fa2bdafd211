#include <pagoda/base/error.h>
#include <pagoda/models/fast_dropout.h>

#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/dropout_kernels.h"

namespace pagoda {
namespace fast_dropout_test {

at::Tensor kept_of(const at::Tensor& result) { return (result != 0).to(torch::kFloat); }

TEST(FastDropoutTest, DropsWithTheChanceAndKeepsTheMean) {
  torch::manual_seed(1);
  for (const double p : {0.1, 0.3, 0.5, 0.9}) {
    constexpr std::int64_t kElements = 400'003;
    FastDropout dropout(p);
    const at::Tensor result = dropout(torch::ones({kElements}));
    const double share = kept_of(result).mean().item<double>();
    EXPECT_NEAR(share, 1 - p, 5 * std::sqrt(p * (1 - p) / kElements)) << p;
    EXPECT_EQ(result.max().item<float>(), static_cast<float>(1 / (1 - p)));
  }
}

/// Neighbours, rows and columns of a matrix are dropped independently of each other.
TEST(FastDropoutTest, PlacesDoNotKnowEachOther) {
  torch::manual_seed(2);
  FastDropout dropout(0.5);
  constexpr std::int64_t kRows = 2048, kWidth = 256;
  const at::Tensor kept = kept_of(dropout(torch::ones({kRows, kWidth}))) - 0.5;
  for (const std::int64_t distance : {1, 2, 16, 256, 65'536}) {
    const at::Tensor flat = kept.flatten();
    const std::int64_t count = flat.numel() - distance;
    const double together =
        (flat.narrow(0, 0, count) * flat.narrow(0, distance, count)).mean().item<double>() / 0.25;
    EXPECT_NEAR(together, 0, 5 / std::sqrt(static_cast<double>(count))) << distance;
  }
  EXPECT_LT(kept.mean(0).abs().max().item<double>(), 5 * 0.5 / std::sqrt(kRows));
  EXPECT_LT(kept.mean(1).abs().max().item<double>(), 6 * 0.5 / std::sqrt(kWidth));
}

TEST(FastDropoutTest, TheGradientIsThatOfWhatWasKept) {
  for (const std::int64_t size : {1, 7, 1000, 70'001}) {
    const at::Tensor x = torch::randn({size}).requires_grad_();
    FastDropout dropout(0.4);
    const at::Tensor result = dropout(x);
    const at::Tensor weights = torch::randn({size});
    (result * weights).sum().backward();
    EXPECT_TRUE(at::allclose(x.grad() * x, result * weights, 1e-4, 1e-6)) << size;
  }
}

TEST(FastDropoutTest, TheGeneratorDecides) {
  FastDropout dropout(0.5);
  const auto draw = [&](std::uint64_t seed) {
    torch::manual_seed(seed);
    return dropout(torch::ones({1000}));
  };
  EXPECT_TRUE(draw(1).equal(draw(1)));
  EXPECT_FALSE(draw(1).equal(draw(2)));
  EXPECT_FALSE(dropout(torch::ones({1000})).equal(dropout(torch::ones({1000}))));
}

TEST(FastDropoutTest, DoesNothingWhereThereIsNothingToDrop) {
  const at::Tensor x = torch::randn({5});
  FastDropout dropout(0.5), none(0);
  dropout->eval();
  EXPECT_TRUE(dropout(x).is_same(x));
  EXPECT_TRUE(none(x).is_same(x));
  dropout->train();
  EXPECT_EQ(dropout(torch::empty({0, 3})).numel(), 0);
}

TEST(FastDropoutTest, OtherTypesAreDroppedByLibTorch) {
  torch::manual_seed(3);
  FastDropout dropout(0.25);
  const at::Tensor result = dropout(torch::ones({10'000}, torch::kDouble));
  EXPECT_EQ(result.scalar_type(), torch::kDouble);
  EXPECT_NEAR(kept_of(result).mean().item<double>(), 0.75, 0.03);
}

TEST(FastDropoutTest, TheGreatestChanceDropsNearlyAll) {
  FastDropout dropout(std::nextafter(1.0, 0.0));
  dropout->train();
  EXPECT_LT(dropout(at::ones({1000})).count_nonzero().item<std::int64_t>(), 2);
}

TEST(FastDropoutTest, ChancesThatCannotBeAreRefused) {
  EXPECT_THROW(FastDropout(1.0), UsageError);
  EXPECT_THROW(FastDropout(-0.1), UsageError);
  EXPECT_THROW(FastDropout(std::nan("")), UsageError);
}

}  // namespace fast_dropout_test
}  // namespace pagoda
