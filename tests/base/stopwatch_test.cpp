#include <pagoda/base/stopwatch.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace stopwatch_test {

TEST(StopwatchTest, OfTwoWatchesTheOlderShowsMore) {
  const Stopwatch older;
  const Stopwatch younger;
  const double less = younger.seconds();
  EXPECT_GE(less, 0);
  EXPECT_GE(older.seconds(), less);
}

TEST(StopwatchTest, LeavesOutWhatItIsTold) {
  const Stopwatch whole;
  Stopwatch part;
  part.leave_out(3600);
  EXPECT_LE(part.seconds(), whole.seconds() - 3600 + 1e-6);
  part.restart();
  EXPECT_GE(part.seconds(), 0);
}

TEST(StopwatchTest, SecondsOfWorkAreThoseInsideOfIt) {
  double inside = 0;
  const double seconds = seconds_of([&] {
    const Stopwatch watch;
    while (inside == 0) inside = watch.seconds();
  });
  EXPECT_GE(seconds, inside);
}

}  // namespace stopwatch_test
}  // namespace pagoda
