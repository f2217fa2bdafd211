#include <pagoda/base/error.h>
#include <pagoda/data/feed_schedule.h>

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace feed_schedule_test {

using Numbers = std::vector<std::int64_t>;

std::vector<FeedSchedule::Step> steps_of(FeedSchedule& schedule) {
  std::vector<FeedSchedule::Step> steps;
  while (auto step = schedule.step(static_cast<std::int64_t>(steps.size())))
    steps.push_back(*std::move(step));
  return steps;
}

TEST(FeedScheduleTest, ProcessesDivideWhatOneAloneHas) {
  const BatchesOptions options{.batch_size = 3, .feeds_per_tower = 2, .epochs = 2};
  FeedSchedule alone(17, 4, options);
  FeedSchedule first(17, TowerShare(0, 1, 4), options);
  FeedSchedule second(17, TowerShare(1, 3, 4), options);
  const auto whole = steps_of(alone);
  const auto one = steps_of(first);
  const auto other = steps_of(second);
  ASSERT_EQ(whole.size(), 2u);
  ASSERT_EQ(one.size(), whole.size());
  ASSERT_EQ(other.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::set<Numbers> feeds(whole[i].feeds.begin(), whole[i].feeds.end());
    std::set<Numbers> both(one[i].feeds.begin(), one[i].feeds.end());
    both.insert(other[i].feeds.begin(), other[i].feeds.end());
    EXPECT_EQ(both, feeds);
    EXPECT_EQ(one[i].after, whole[i].after);
    EXPECT_EQ(one[i].epoch, static_cast<std::int64_t>(i));
  }
}

TEST(FeedScheduleTest, GoesOnFromAnyPositionAsIfItHadNotStopped) {
  const BatchesOptions options{.batch_size = 2, .seed = 5, .epochs = 3};
  FeedSchedule whole(7, 2, options);
  const auto steps = steps_of(whole);
  for (std::size_t done = 1; done < steps.size(); ++done) {
    BatchesOptions later = options;
    later.start = steps[done - 1].after;
    later.epochs = options.epochs - later.start.epoch;
    FeedSchedule rest(7, 2, later);
    const auto found = steps_of(rest);
    ASSERT_EQ(found.size(), steps.size() - done);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].feeds, steps[done + i].feeds);
  }
}

TEST(FeedScheduleTest, OnlyTheFirstSamplesAreUsedWhereThatIsAskedFor) {
  for (const std::int64_t wanted : {1, 5, 7, 8}) {
    FeedSchedule schedule(7, 2, {.batch_size = 2, .first_samples = wanted});
    std::set<std::int64_t> found;
    for (const auto& step : steps_of(schedule)) {
      for (const auto& feed : step.feeds) found.insert(feed.begin(), feed.end());
    }
    EXPECT_EQ(std::ssize(found), std::min<std::int64_t>(wanted, 7));
    EXPECT_EQ(*found.rbegin(), std::min<std::int64_t>(wanted, 7) - 1);
  }
}

TEST(FeedScheduleTest, BadOptionsAreRefused) {
  EXPECT_THROW(FeedSchedule(0, 1, {}), UsageError);
  EXPECT_THROW(FeedSchedule(5, 1, {.epochs = 0}), UsageError);
  EXPECT_THROW(FeedSchedule(5, 1, {.start = {.epoch = 0, .consumed = 6}}), UsageError);
  EXPECT_THROW(FeedSchedule(5, 1, {.start = {.epoch = 0, .consumed = 4}, .first_samples = 3}),
               UsageError);
}

}  // namespace feed_schedule_test
}  // namespace pagoda
