#include "train/tower_pass.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace tower_pass_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(TowerPassTest, IsFiniteWhenLossesAndNormAre) {
  EXPECT_TRUE(TowerPass{}.is_finite());
  EXPECT_TRUE((TowerPass{.weight = 1, .scores = {{1}, {2}}}.is_finite()));
  EXPECT_FALSE((TowerPass{.weight = 1, .scores = {{1}, {kNan}}}.is_finite()));
  EXPECT_FALSE((TowerPass{.grad_norm = std::numeric_limits<double>::infinity()}.is_finite()));
}

TEST(TowerPassTest, NamesTheSamplesOfTheFirstLossThatIsNotFinite) {
  // Tower 1 of 2: feeds 1, 3 and 5, of which 3 is empty.
  const std::vector<detail::FeedInfo> feeds = {{2, {0, 1}}, {2, {2, 3}}, {2, {4, 5}},
                                               {0, {}},     {2, {6, 7}}, {2, {8, 9}}};
  EXPECT_EQ(non_finite_loss({.scores = {{1}, {2}}}, feeds, 1, 2), std::nullopt);
  const auto text = non_finite_loss({.scores = {{1}, {kNan}}}, feeds, 1, 2);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("the loss is"), std::string::npos) << *text;
  EXPECT_NE(text->find("for samples 8, 9;"), std::string::npos) << *text;
}

}  // namespace tower_pass_test
}  // namespace pagoda
