#include "reduce/gradient_norm.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "reduce/combine.h"
#include "support/formula_data.h"
#include "support/tower_fixtures.h"

namespace pagoda {
namespace gradient_norm_test {

using testing::kTowerCounts;
using testing::waves;

/// Parameters of awkward sizes and two towers' gradients, with the sum written out plainly.
struct Gradients {
  explicit Gradients(at::ScalarType type) {
    const std::vector<std::vector<std::int64_t>> shapes = {
        {}, {1}, {0, 3}, {131, 257}, {16 * 1024 + 1}};
    for (std::size_t i = 0; i < shapes.size(); ++i) add("p" + std::to_string(i), shapes[i], type);
    add("unused", {5}, type);
    view.parameters.back() = combine(parameters.back().tensor, {at::Tensor(), at::Tensor()});
    sums.back() = at::Tensor();
  }

  void add(const std::string& name, const std::vector<std::int64_t>& shape, at::ScalarType type) {
    const auto values = [&](double pace) {
      return waves({1, at::zeros(shape).numel()}, 1, pace).reshape(shape).to(type);
    };
    parameters.push_back({name, values(0.3)});
    view.parameters.push_back(combine(parameters.back().tensor, {values(0.5), values(0.9)}));
    sums.push_back(view.weights[0] * values(0.5).to(torch::kDouble) +
                   view.weights[1] * values(0.9).to(torch::kDouble));
  }

  /// The norm of the sums, with an L2 term.
  double expected(double l2) const {
    double squares = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (!sums[i].defined()) continue;
      squares +=
          (sums[i] + l2 * parameters[i].tensor.to(torch::kDouble)).square().sum().item<double>();
    }
    return std::sqrt(squares);
  }

  std::vector<NamedTensor> parameters;
  GradientView view{.weights = {0.25, 2}, .parameters = {}};
  std::vector<at::Tensor> sums;
};

double norm_in_shares(const Gradients& gradients, double l2, int shares) {
  GradientNorm norm(gradients.parameters);
  for (int share = 0; share < shares; ++share) {
    norm.run_share(gradients.view, std::vector<double>(gradients.parameters.size(), l2), share,
                   shares);
  }
  return norm.norm();
}

class GradientNormTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Shares, GradientNormTest, ::testing::ValuesIn(kTowerCounts));

TEST_P(GradientNormTest, EqualsTheFormula) {
  for (const double l2 : {0.0, 0.3}) {
    const Gradients in_double(torch::kDouble);
    const Gradients in_float(torch::kFloat);
    EXPECT_NEAR(norm_in_shares(in_double, l2, GetParam()) / in_double.expected(l2), 1, 1e-14);
    EXPECT_NEAR(norm_in_shares(in_float, l2, GetParam()) / in_float.expected(l2), 1, 1e-7);
  }
}

TEST_P(GradientNormTest, HasTheSameBitsForAnyNumberOfShares) {
  const Gradients gradients(torch::kFloat);
  EXPECT_EQ(norm_in_shares(gradients, 0.3, GetParam()), norm_in_shares(gradients, 0.3, 1));
}

TEST(GradientNormTest, CountsRowsAndWithL2TheRowsBetween) {
  const std::vector<NamedTensor> parameters = {{"table", torch::ones({7, 2}, torch::kDouble)}};
  const at::Tensor rows = torch::sparse_coo_tensor(
      torch::tensor({{1, 4}}), torch::tensor({{1.0, 2.0}, {3.0, 4.0}}, torch::kDouble), {7, 2});
  const GradientView view{.weights = {1},
                          .parameters = {combine(parameters[0].tensor, {rows.coalesce()})}};
  GradientNorm norm(parameters);
  norm.run_share(view, {0}, 0, 1);
  EXPECT_DOUBLE_EQ(norm.norm(), std::sqrt(1 + 4 + 9 + 16));
  norm.run_share(view, {1}, 0, 1);
  EXPECT_DOUBLE_EQ(norm.norm(), std::sqrt(4 + 9 + 16 + 25 + 10));
}

TEST(GradientNormTest, OfNothingIsZero) {
  GradientNorm norm({});
  norm.run_share({}, {}, 0, 1);
  EXPECT_EQ(norm.norm(), 0);
}

TEST(GradientNormTest, ClipFactorShortensOnlyWhatIsTooLong) {
  EXPECT_EQ(clipped(0, 5).factor, 1);
  EXPECT_EQ(clipped(5, 5).factor, 1);
  EXPECT_EQ(clipped(10, 5).factor, 0.5);
  EXPECT_EQ(clipped(std::numeric_limits<double>::infinity(), 5).factor, 0);
}

}  // namespace gradient_norm_test
}  // namespace pagoda
