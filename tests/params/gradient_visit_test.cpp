#include "params/gradient_visit.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "params/gradient_fixtures.h"

namespace pagoda {
namespace gradient_visit_test {

using pagoda::testing::dense_gradient;
using pagoda::testing::filled;
using pagoda::testing::row_gradient;
using pagoda::testing::TowerRows;

/// What a sweep handed over: (index, gradient) of every element, and that the spans were in order
/// and of the promised size.
struct Visited {
  std::vector<std::pair<std::int64_t, double>> elements;
  bool in_order = true;
};

template <class T = double>
Visited visit(const ParameterGradient& gradient, const std::vector<double>& weights,
              std::int64_t row_elements, std::int64_t begin, std::int64_t end,
              Sweep sweep = Sweep::all) {
  Visited visited;
  std::int64_t next = begin;
  visit_gradient<T>(gradient, weights, row_elements, begin, end, sweep,
                    [&](std::int64_t offset, std::int64_t count, const T* values) {
                      visited.in_order &= offset >= next && count > 0 && count <= kSpanElements;
                      next = offset + count;
                      for (std::int64_t i = 0; i < count; ++i) {
                        visited.elements.emplace_back(offset + i, values[i]);
                      }
                    });
  visited.in_order &= next <= end;
  return visited;
}

double value(std::size_t tower, std::int64_t i) {
  return 10.0 * static_cast<double>(i) + static_cast<double>(tower);
}

class DenseGradientTest : public ::testing::TestWithParam<std::tuple<int, std::int64_t>> {};

TEST_P(DenseGradientTest, IsTheWeightedSumOfTheTowers) {
  const auto [tower_count, elements] = GetParam();
  std::vector<at::Tensor> towers;
  std::vector<double> weights;
  for (std::size_t tower = 0; tower < static_cast<std::size_t>(tower_count); ++tower) {
    weights.push_back(static_cast<double>(1 << tower));
    const bool absent = tower % 3 == 1;
    towers.push_back(absent ? at::Tensor() : filled({elements}, at::kDouble, [=](auto i) {
      return value(tower, i);
    }));
  }
  const std::int64_t begin = elements / 3;
  const Visited visited = visit(dense_gradient(towers), weights, 1, begin, elements);
  EXPECT_TRUE(visited.in_order);
  ASSERT_EQ(visited.elements.size(), static_cast<std::size_t>(elements - begin));
  std::int64_t index = begin;
  for (const auto& [i, sum] : visited.elements) {
    double expected = 0;  // whole numbers: exact in any order
    for (std::size_t tower = 0; tower < towers.size(); ++tower) {
      if (towers[tower].defined()) expected += weights[tower] * value(tower, i);
    }
    ASSERT_EQ(i, index++);
    ASSERT_EQ(sum, expected) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(TowersAndSizes, DenseGradientTest,
                         ::testing::Combine(::testing::Values(1, 2, 3, 8),
                                            ::testing::Values(0, 1, 101, kSpanElements,
                                                              kSpanElements + 1,
                                                              3 * kSpanElements + 7)));

TEST(DenseGradientTest, IsZeroWhenEveryTowerIsUndefined) {
  const Visited visited = visit(dense_gradient({at::Tensor(), at::Tensor()}), {0.5, 0.5}, 1, 0, 3);
  EXPECT_EQ(visited.elements,
            (std::vector<std::pair<std::int64_t, double>>{{0, 0}, {1, 0}, {2, 0}}));
}

TEST(DenseGradientTest, IsSummedInTowerOrder) {
  // In float, 1e8 + 1 is 1e8: only the order of the towers gives 0.
  const auto one = [](double number) {
    return filled({1}, at::kFloat, [=](auto) { return number; });
  };
  const auto gradient = dense_gradient({one(1e8), one(1), one(-1e8)});
  EXPECT_EQ(visit<float>(gradient, {1, 1, 1}, 1, 0, 1).elements.front().second, 0);
}

TEST(NoGradientTest, VisitsNothing) {
  EXPECT_TRUE(visit(ParameterGradient(), {1}, 1, 0, 10).elements.empty());
}

/// Rows 1 and 4 of tower 0, rows 4 and 6 of tower 1, in a parameter of 8 rows.
class RowGradientTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  /// The sum in row `row`, column `column`; whole numbers.
  static double expected(std::int64_t row, std::int64_t column) {
    const auto position = static_cast<double>(column);
    double sum = 0;
    if (row == 1) sum += 2 * position;
    if (row == 4) sum += 2 * (position + 1000) + 3 * (position + 10'000);
    if (row == 6) sum += 3 * (position + 20'000);
    return sum;
  }

  Visited visit_rows(std::int64_t first, std::int64_t last, Sweep sweep) const {
    const std::int64_t row = GetParam();
    const auto values = [row](double start, double step) {
      return filled({2, row}, at::kDouble, [=](std::int64_t i) {
        return start + step * static_cast<double>(i / row) + static_cast<double>(i % row);
      });
    };
    const auto gradient =
        row_gradient({TowerRows{.rows = {1, 4}, .values = values(0, 1000)},
                      TowerRows{.rows = {4, 6}, .values = values(10'000, 10'000)}});
    return visit(gradient, {2, 3}, row, first * row, last * row, sweep);
  }
};

TEST_P(RowGradientTest, SweepOfAllSeesEveryElementWithZerosBetween) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> ranges = {
      {0, 8}, {2, 5}, {4, 4}, {7, 8}, {0, 1}};
  for (const auto& [first, last] : ranges) {
    const Visited visited = visit_rows(first, last, Sweep::all);
    EXPECT_TRUE(visited.in_order);
    ASSERT_EQ(visited.elements.size(), static_cast<std::size_t>((last - first) * GetParam()));
    std::int64_t index = first * GetParam();
    for (const auto& [i, sum] : visited.elements) {
      ASSERT_EQ(i, index++);
      ASSERT_EQ(sum, expected(i / GetParam(), i % GetParam())) << i;
    }
  }
}

TEST_P(RowGradientTest, SweepOfTouchedSeesOnlyTheRowsInTheRange) {
  struct Case {
    std::int64_t first, last;
    std::vector<std::int64_t> rows;
  };
  const Case cases[] = {{0, 8, {1, 4, 6}}, {2, 5, {4}}, {1, 4, {1}},
                        {2, 4, {}},        {6, 7, {6}}, {7, 8, {}}};
  for (const auto& [first, last, rows] : cases) {
    const Visited visited = visit_rows(first, last, Sweep::touched);
    EXPECT_TRUE(visited.in_order);
    std::vector<std::pair<std::int64_t, double>> wanted;
    for (const std::int64_t row : rows) {
      for (std::int64_t column = 0; column < GetParam(); ++column) {
        wanted.emplace_back(row * GetParam() + column, expected(row, column));
      }
    }
    EXPECT_EQ(visited.elements, wanted) << first << " to " << last;
  }
}

INSTANTIATE_TEST_SUITE_P(RowElements, RowGradientTest,
                         ::testing::Values(1, 5, kSpanElements, kSpanElements + 1));

TEST(RowGradientTest, WithoutTouchedRowsIsZero) {
  const auto gradient = row_gradient({});
  EXPECT_EQ(visit(gradient, {}, 2, 0, 2).elements,
            (std::vector<std::pair<std::int64_t, double>>{{0, 0}, {1, 0}}));
  EXPECT_TRUE(visit(gradient, {}, 2, 0, 2, Sweep::touched).elements.empty());
}

}  // namespace gradient_visit_test
}  // namespace pagoda
