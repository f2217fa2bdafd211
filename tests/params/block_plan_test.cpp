#include "params/block_plan.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace block_plan_test {

constexpr std::int64_t kOneOverABlock = 16 * 1024 + 1;

using Shapes = std::vector<std::vector<std::int64_t>>;

std::vector<NamedTensor> tensors(const Shapes& shapes, at::ScalarType type = at::kFloat) {
  std::vector<NamedTensor> tensors;
  for (const auto& shape : shapes) tensors.push_back({"", at::empty(shape, type)});
  return tensors;
}

class BlockPlanTest : public ::testing::TestWithParam<Shapes> {
 protected:
  std::vector<NamedTensor> parameters_ = tensors(GetParam());
  BlockPlan plan_{parameters_};
};

TEST_P(BlockPlanTest, BlocksCoverEveryElementOnceInOrder) {
  std::vector<std::int64_t> covered(parameters_.size());
  std::size_t parameter = 0;
  for (const Block& block : plan_.blocks()) {
    EXPECT_GE(block.parameter, parameter);
    parameter = block.parameter;
    ASSERT_LT(parameter, parameters_.size());
    EXPECT_EQ(block.begin, covered[parameter]);
    EXPECT_LT(block.begin, block.end);
    covered[parameter] = block.end;
  }
  for (std::size_t i = 0; i < covered.size(); ++i) {
    EXPECT_EQ(covered[i], parameters_[i].tensor.numel()) << i;
  }
}

TEST_P(BlockPlanTest, BlocksAreWholeRowsOfLimitedSize) {
  for (const Block& block : plan_.blocks()) {
    const std::int64_t row = row_elements(parameters_[block.parameter].tensor);
    EXPECT_EQ(block.begin % row, 0);
    EXPECT_EQ(block.end % row, 0);
    EXPECT_LE(block.end - block.begin, std::max(row, kOneOverABlock - 1));
  }
}

TEST_P(BlockPlanTest, SharesDivideTheBlocksEvenly) {
  const auto elements = [&](BlockPlan::Range range) {
    std::int64_t count = 0;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      count += plan_.blocks()[i].end - plan_.blocks()[i].begin;
    }
    return count;
  };
  std::int64_t largest = 0;
  for (const Block& block : plan_.blocks()) largest = std::max(largest, block.end - block.begin);
  const std::int64_t total = element_count(parameters_);
  for (const int shares : {1, 2, 3, 8}) {
    std::size_t next = 0;
    for (int share = 0; share < shares; ++share) {
      const BlockPlan::Range range = plan_.share(share, shares);
      EXPECT_EQ(range.begin, next) << share << " of " << shares;
      next = range.end;
      EXPECT_NEAR(elements(range), total / shares, largest + 1) << share << " of " << shares;
    }
    EXPECT_EQ(next, plan_.blocks().size()) << shares;
  }
}

TEST_P(BlockPlanTest, DependsOnShapesOnly) {
  const BlockPlan other(tensors(GetParam(), at::kDouble));
  const auto same = [](const Block& a, const Block& b) {
    return a.parameter == b.parameter && a.begin == b.begin && a.end == b.end;
  };
  EXPECT_TRUE(std::ranges::equal(plan_.blocks(), other.blocks(), same));
}

TEST_P(BlockPlanTest, RangesOfAllSharesCoverEveryElementOnce) {
  const auto parameters = tensors(GetParam());
  for (const int shares : {1, 2, 3, 8}) {
    for (const auto& entry : parameters) entry.tensor.zero_();
    for (int share = 0; share < shares; ++share) {
      const auto ranges = plan_.ranges(share, shares);
      ASSERT_EQ(ranges.size(), parameters.size());
      for (std::size_t i = 0; i < ranges.size(); ++i)
        elements_of(parameters[i].tensor, ranges[i]).add_(1);
    }
    for (const auto& entry : parameters) EXPECT_TRUE(entry.tensor.eq(1).all().item<bool>());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, BlockPlanTest,
                         ::testing::Values(Shapes{},                          //
                                           Shapes{{0}, {3, 0}, {0, 3}},       //
                                           Shapes{{}},                        //
                                           Shapes{{1}, {0}, {101}, {7, 13}},  //
                                           Shapes{{kOneOverABlock}},
                                           Shapes{{1009, 1009}, {1009}, {2, 3, 5, 7}},
                                           Shapes{{kOneOverABlock - 1}, {kOneOverABlock - 1, 1}},
                                           Shapes{{3, kOneOverABlock}, {1, 100'000}}));

TEST(BlockPlanTest, CutsAtTheBlockSizeButNeverARow) {
  EXPECT_EQ(BlockPlan(tensors({{kOneOverABlock - 1}})).blocks().size(), 1u);
  EXPECT_EQ(BlockPlan(tensors({{kOneOverABlock}})).blocks().size(), 2u);
  EXPECT_EQ(BlockPlan(tensors({{3, kOneOverABlock}})).blocks().size(), 3u);
}

TEST(RowElementsTest, AreWhatOneIndexOfTheFirstDimensionSelects) {
  const auto of = [](const std::vector<std::int64_t>& shape) {
    return row_elements(at::empty(shape));
  };
  EXPECT_EQ(of({}), 1);
  EXPECT_EQ(of({5}), 1);
  EXPECT_EQ(of({5, 3}), 3);
  EXPECT_EQ(of({4, 3, 2, 2}), 12);
  EXPECT_EQ(of({0, 3}), 1);
  EXPECT_EQ(of({3, 0}), 1);
}

}  // namespace block_plan_test
}  // namespace pagoda
