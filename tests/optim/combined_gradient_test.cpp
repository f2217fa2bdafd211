#include "optim/combined_gradient.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <torch/types.h>

#include "params/gradient_fixtures.h"

namespace pagoda {
namespace combined_gradient_test {

using namespace pagoda::testing;

const std::vector<double> kTowerWeights = {0.5, 0.25};  // exact in every type

class CombinedGradientTest : public ::testing::TestWithParam<at::ScalarType> {
 protected:
  /// Element i of tower t: 100 t + i.
  at::Tensor tower(int number, at::IntArrayRef shape) const {
    return filled(shape, GetParam(),
                  [=](std::int64_t i) { return 100.0 * number + static_cast<double>(i); });
  }

  /// Seven rows of three; tower 0 has rows 1 and 4, tower 1 rows 4 and 6.
  ParameterGradient rows() const {
    return row_gradient({{.rows = {1, 4}, .values = tower(0, {2, 3})},
                         {.rows = {4, 6}, .values = tower(1, {2, 3})}});
  }
};
INSTANTIATE_TEST_SUITE_P(Types, CombinedGradientTest, ::testing::Values(at::kFloat, at::kDouble));

TEST_P(CombinedGradientTest, ElementsAreTheWeightedSumInTheRange) {
  constexpr std::int64_t kElements = 2051;  // more than two spans
  const auto gradient = dense_gradient({tower(0, {kElements}), tower(1, {kElements})});
  for (const ElementRange range : {ElementRange{0, kElements}, {1, 1}, {5, 6}, {1023, 2050}}) {
    const at::Tensor sums = combined_elements(gradient, kTowerWeights, 1, range, GetParam());
    const auto expected = filled({range.size()}, GetParam(), [&](std::int64_t i) {
      return 0.75 * static_cast<double>(range.begin + i) + 25;
    });
    EXPECT_TRUE(sums.equal(expected)) << range.begin << " to " << range.end;
  }
}

TEST_P(CombinedGradientTest, ElementsOfRowsAreZeroWhereNoTowerHasAny) {
  const at::Tensor sums = combined_elements(rows(), kTowerWeights, 3, {9, 21}, GetParam());
  const auto expected = torch::tensor({0.0, 0.0, 0.0, 26.5, 27.25, 28.0,  //
                                       0.0, 0.0, 0.0, 25.75, 26.0, 26.25},
                                      GetParam());
  EXPECT_TRUE(sums.equal(expected)) << sums;
}

TEST_P(CombinedGradientTest, RowsAreNumberedFromTheStartOfTheRange) {
  const CombinedRows all = combined_rows(rows(), kTowerWeights, 3, {0, 21}, GetParam());
  EXPECT_TRUE(all.numbers.equal(torch::tensor({1, 4, 6}, torch::kLong)));
  const auto expected =
      torch::tensor({{0.0, 0.5, 1.0}, {26.5, 27.25, 28.0}, {25.75, 26.0, 26.25}}, GetParam());
  EXPECT_TRUE(all.values.equal(expected)) << all.values;

  const CombinedRows part = combined_rows(rows(), kTowerWeights, 3, {6, 18}, GetParam());
  EXPECT_TRUE(part.numbers.equal(torch::tensor({2}, torch::kLong)));
  EXPECT_TRUE(part.values.equal(expected.slice(0, 1, 2))) << part.values;

  const CombinedRows none = combined_rows(rows(), kTowerWeights, 3, {6, 12}, GetParam());
  EXPECT_EQ(none.numbers.numel(), 0);
  EXPECT_EQ(none.values.sizes(), (std::vector<std::int64_t>{0, 3}));
}

}  // namespace combined_gradient_test
}  // namespace pagoda
