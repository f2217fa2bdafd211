#include "train/tower_pass.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace tower_pass_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(TowerPassTest, EveryFeedIsOneTowersAndComesInItsOrder) {
  for (const int towers : {1, 2, 3, 8}) {
    for (const std::size_t feeds : {0, 1, 7, 8, 9}) {
      std::size_t found = 0;
      for (int tower = 0; tower < towers; ++tower) {
        const auto own = feeds_of(tower, towers, feeds);
        for (std::size_t i = 0; i < own.size(); ++i)
          EXPECT_EQ(own[i], static_cast<std::size_t>(tower) + i * static_cast<std::size_t>(towers));
        found += own.size();
      }
      EXPECT_EQ(found, feeds);
    }
  }
}

TEST(TowerPassTest, KnowsWhatIsNotFinite) {
  const Clipped clip{.norm = std::numeric_limits<double>::infinity()};
  EXPECT_EQ(TowerPass{}.not_finite(), NotFinite::nothing);
  EXPECT_EQ((TowerPass{.scores = {{1}, {2}}, .weight = 1}.not_finite()), NotFinite::nothing);
  EXPECT_EQ((TowerPass{.scores = {{1}}, .clip = clip}.not_finite()), NotFinite::gradient);
  EXPECT_EQ((TowerPass{.scores = {{1}, {kNan}}, .clip = clip}.not_finite()), NotFinite::loss);
}

TEST(TowerPassTest, NamesTheSamplesOfTheFirstLossThatIsNotFinite) {
  const std::vector<detail::FeedInfo> feeds = {{2, {0, 1}}, {2, {2, 3}}, {2, {4, 5}},
                                               {0, {}},     {2, {6, 7}}, {2, {8, 9}}};
  const TowerPass pass{.feeds = {1, 5}, .scores = {{1}, {kNan}}};
  const std::string text = non_finite_text(pass, feeds);
  EXPECT_NE(text.find("the loss is"), std::string::npos) << text;
  EXPECT_NE(text.find("for samples 8, 9;"), std::string::npos) << text;
  EXPECT_EQ(non_finite_text({.feeds = {1, 5}, .scores = {{1}, {2}}}, feeds), kNonFiniteNorm);
}

}  // namespace tower_pass_test
}  // namespace pagoda
