#include <pagoda/base/grouped_number.h>

#include <limits>

#include <gtest/gtest.h>

namespace pagoda {
namespace grouped_number_test {

TEST(GroupedNumberTest, ThreeDigitsAreAGroup) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(12'345'678), "12,345,678");
  EXPECT_EQ(grouped(-999), "-999");
  EXPECT_EQ(grouped(-1'234'567), "-1,234,567");
}

TEST(GroupedNumberTest, DecimalsAreNotGrouped) {
  EXPECT_EQ(grouped(1234.5678, 4), "1,234.5678");
  EXPECT_EQ(grouped(0.25, 1), "0.2");
  EXPECT_EQ(grouped(999.96, 1), "1,000.0");
}

TEST(GroupedNumberTest, EveryDoubleFits) {
  EXPECT_EQ(grouped(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(grouped(-std::numeric_limits<double>::infinity()), "-inf");
  const std::string largest = grouped(std::numeric_limits<double>::max(), 2);
  EXPECT_EQ(largest.size(), 309u + 102u + 3u);  // digits, commas, the point and two decimals
}

TEST(CountedTest, OneIsNotPlural) {
  EXPECT_EQ(counted(0, "tower"), "0 towers");
  EXPECT_EQ(counted(1, "tower"), "1 tower");
  EXPECT_EQ(counted(1234, "step"), "1,234 steps");
  EXPECT_EQ(counted(1, "process"), "1 process");
  EXPECT_EQ(counted(2, "process"), "2 processes");
  EXPECT_EQ(counted(3, "micro-batch"), "3 micro-batches");
}

}  // namespace grouped_number_test
}  // namespace pagoda
