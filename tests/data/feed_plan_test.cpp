#include <pagoda/base/error.h>
#include <pagoda/data/feed_plan.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace feed_plan_test {

using Numbers = std::vector<std::int64_t>;

struct Case {
  std::int64_t samples;
  int towers;
  std::int64_t batch_size;
  int feeds_per_tower;
};

/// Every combination of awkward sizes.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::int64_t samples : {1, 2, 7, 64, 65, 97}) {
    for (const int towers : {1, 2, 3, 8}) {
      for (const std::int64_t batch_size : {1, 5, 32, 64, 1000}) {
        for (const int feeds : {1, 3}) all.push_back({samples, towers, batch_size, feeds});
      }
    }
  }
  return all;
}

std::string text_of(const Case& c) {
  return std::to_string(c.samples) + " samples, " + std::to_string(c.towers) + " towers, batch " +
         std::to_string(c.batch_size) + ", " + std::to_string(c.feeds_per_tower) + " feeds";
}

FeedPlan plan_of(const Case& c) {
  return FeedPlan(c.samples, c.towers,
                  {.batch_size = c.batch_size, .feeds_per_tower = c.feeds_per_tower, .seed = 5});
}

TEST(FeedPlanTest, AnEpochIsItsOrderCutIntoFeeds) {
  for (const Case& c : cases()) {
    const FeedPlan plan = plan_of(c);
    const Numbers order = plan.order(2);
    Numbers visited;
    std::int64_t steps = 0;
    for (std::int64_t consumed = 0; consumed < c.samples; ++steps) {
      for (const Numbers& feed : plan.feeds(order, consumed)) {
        visited.insert(visited.end(), feed.begin(), feed.end());
      }
      ASSERT_GT(static_cast<std::int64_t>(visited.size()), consumed) << text_of(c);
      consumed = static_cast<std::int64_t>(visited.size());
    }
    EXPECT_EQ(visited, order) << text_of(c);
    EXPECT_EQ(steps, plan.steps_per_epoch()) << text_of(c);
  }
}

TEST(FeedPlanTest, StepsAreFullAndTheLastIsDividedEvenly) {
  for (const Case& c : cases()) {
    const FeedPlan plan = plan_of(c);
    const std::int64_t feeds_per_step = std::int64_t{c.towers} * c.feeds_per_tower;
    EXPECT_EQ(plan.step_samples(), std::min(feeds_per_step * c.batch_size, c.samples))
        << text_of(c);
    for (std::int64_t at = 0; at < c.samples; at += plan.step_samples()) {
      const auto feeds = plan.feeds(plan.order(0), at);
      const std::int64_t samples = std::min(plan.step_samples(), c.samples - at);
      ASSERT_EQ(static_cast<std::int64_t>(feeds.size()), std::min(feeds_per_step, samples))
          << text_of(c);
      for (const Numbers& feed : feeds) {
        const auto size = static_cast<std::int64_t>(feed.size());
        EXPECT_GE(size, samples / static_cast<std::int64_t>(feeds.size())) << text_of(c);
        EXPECT_LE(size, samples / static_cast<std::int64_t>(feeds.size()) + 1) << text_of(c);
        EXPECT_LE(size, c.batch_size) << text_of(c);
      }
    }
  }
}

TEST(FeedPlanTest, TheOrderIsAPermutationThatDependsOnSeedAndEpochOnly) {
  const auto order = [](std::uint64_t seed, std::int64_t epoch, int towers,
                        std::int64_t batch_size) {
    return FeedPlan(97, towers, {.batch_size = batch_size, .seed = seed}).order(epoch);
  };
  const Numbers first = order(1, 0, 1, 64);
  EXPECT_EQ(order(1, 0, 8, 3), first);
  EXPECT_NE(order(1, 1, 1, 64), first);
  EXPECT_NE(order(2, 0, 1, 64), first);

  Numbers sorted = first;
  std::ranges::sort(sorted);
  Numbers all(97);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  EXPECT_EQ(FeedPlan(97, 2, {.shuffle = false}).order(3), all);
}

// Each of the 3! orders of three samples comes about as often as the others.
TEST(FeedPlanTest, AllOrdersAreEquallyLikely) {
  const FeedPlan plan(3, 1, {.batch_size = 1, .seed = 1});
  std::map<Numbers, int> seen;
  for (std::int64_t epoch = 0; epoch < 6000; ++epoch) ++seen[plan.order(epoch)];
  EXPECT_EQ(seen.size(), 6u);
  for (const auto& [order, count] : seen)
    EXPECT_NEAR(count, 1000, 150);  // five standard deviations
}

TEST(FeedPlanTest, StepsFromAPositionAreCounted) {
  const FeedPlan plan(20, 2, {.batch_size = 3});
  for (std::int64_t consumed = 0; consumed <= 20; ++consumed) {
    std::int64_t steps = 0;
    for (std::int64_t at = consumed; at < 20; at += 6) ++steps;
    EXPECT_EQ(plan.steps_from(consumed), steps) << consumed;
  }
}

TEST(FeedPlanTest, DroppingTheLastStepLeavesFullOnes) {
  for (const Case& c : cases()) {
    const std::int64_t step = std::int64_t{c.towers} * c.feeds_per_tower * c.batch_size;
    const auto plan = [&] {
      return FeedPlan(c.samples, c.towers,
                      {.batch_size = c.batch_size,
                       .feeds_per_tower = c.feeds_per_tower,
                       .seed = 5,
                       .drop_last = true});
    };
    if (step > c.samples) {
      EXPECT_THROW(plan(), UsageError) << text_of(c);
      continue;
    }
    EXPECT_EQ(plan().steps_per_epoch(), c.samples / step) << text_of(c);
    EXPECT_EQ(plan().smallest_feed(), c.batch_size) << text_of(c);
    EXPECT_EQ(plan().order(1), plan_of(c).order(1)) << text_of(c);
    for (std::int64_t at = 0; at < c.samples / step * step; at += step) {
      for (const Numbers& feed : plan().feeds(plan().order(1), at))
        EXPECT_EQ(static_cast<std::int64_t>(feed.size()), c.batch_size) << text_of(c);
    }
  }
}

TEST(FeedPlanTest, KnowsItsSmallestFeed) {
  for (const Case& c : cases()) {
    const FeedPlan plan = plan_of(c);
    std::size_t smallest = std::numeric_limits<std::size_t>::max();
    for (std::int64_t at = 0; at < c.samples; at += plan.step_samples()) {
      for (const Numbers& feed : plan.feeds(plan.order(0), at))
        smallest = std::min(smallest, feed.size());
    }
    EXPECT_EQ(plan.smallest_feed(), static_cast<std::int64_t>(smallest)) << text_of(c);
  }
}

TEST(FeedPlanTest, NumbersPastTheDataTakeAllOfIt) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  constexpr int kLargestInt = std::numeric_limits<int>::max();
  for (const Case& c : {Case{10, 3, kLargest, 1}, Case{10, kLargestInt, 1, kLargestInt},
                        Case{10, kLargestInt, kLargest, kLargestInt}}) {
    const FeedPlan plan = plan_of(c);
    EXPECT_EQ(plan.steps_per_epoch(), 1) << text_of(c);
    std::size_t samples = 0;
    for (const Numbers& feed : plan.feeds(plan.order(0), 0)) samples += feed.size();
    EXPECT_EQ(samples, 10u) << text_of(c);
  }
}

TEST(FeedPlanTest, RefusesNumbersThatAreNotPositive) {
  for (const int bad : {0, -1}) {
    for (const Case& c :
         {Case{bad, 1, 1, 1}, Case{1, bad, 1, 1}, Case{1, 1, bad, 1}, Case{1, 1, 1, bad}}) {
      EXPECT_THROW(plan_of(c), UsageError) << text_of(c);
    }
  }
}

}  // namespace feed_plan_test
}  // namespace pagoda
