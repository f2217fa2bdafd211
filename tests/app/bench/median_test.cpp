#include "bench/median.h"

#include <gtest/gtest.h>

namespace pagoda::app {
namespace median_test {

TEST(MedianTest, IsTheMiddleOrTheMeanOfTheTwoMiddleValues) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1}), 5);
  EXPECT_EQ(median({100, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 100}), 3.5);
}

}  // namespace median_test
}  // namespace pagoda::app
