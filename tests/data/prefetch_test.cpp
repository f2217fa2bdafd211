#include <pagoda/base/error.h>
#include <pagoda/data/prefetch.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "support/refused_threads.h"

namespace pagoda {
namespace prefetch_test {

using Item = std::optional<std::int64_t>;

/// Squares of 0, 1, …, without end.
Item square(std::int64_t number) { return number * number; }

/// Parameters: threads, items ahead.
class PrefetchTest : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  int threads() const { return std::get<0>(GetParam()); }
  int ahead() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(ThreadsAndAhead, PrefetchTest,
                         ::testing::Combine(::testing::Values(1, 2, 5), ::testing::Values(1, 4)));

TEST_P(PrefetchTest, HandsOverInOrderUntilTheEnd) {
  Prefetch<std::int64_t> items([](std::int64_t i) { return i < 50 ? square(i) : std::nullopt; },
                               threads(), ahead());
  for (std::int64_t i = 0; i < 50; ++i) EXPECT_EQ(items.next(), square(i));
  for (int again = 0; again < 3; ++again) EXPECT_EQ(items.next(), std::nullopt);
  EXPECT_TRUE(items.is_ready());
}

TEST(PrefetchThreadsTest, AThreadThatIsRefusedEndsTheOthers) {
  for (int started = 0; started < 3; ++started) {
    const testing::RefusedThread refused(started);
    EXPECT_THROW(Prefetch<std::int64_t>(square, 3, 4), DeviceError) << started;
  }
}

TEST_P(PrefetchTest, NothingAtAllIsAnEnd) {
  Prefetch<std::int64_t> items([](std::int64_t) { return Item(); }, threads(), ahead());
  EXPECT_EQ(items.next(), std::nullopt);
}

TEST_P(PrefetchTest, NeverMakesMoreAheadThanAllowed) {
  std::atomic<std::int64_t> asked = 0;  // at least as many as handed over
  std::atomic<int> too_early = 0;
  const int most = ahead();
  Prefetch<std::int64_t> items(
      [&](std::int64_t i) {
        if (i >= asked + most) ++too_early;
        return square(i);
      },
      threads(), most);
  while (asked < 100) {
    ++asked;
    items.next();
  }
  EXPECT_EQ(too_early, 0);
}

TEST_P(PrefetchTest, AnExceptionComesOutAtItsNumberAndStays) {
  for (const std::int64_t bad : {0, 1, 7}) {
    Prefetch<std::int64_t> items(
        [bad](std::int64_t i) {
          if (i == bad) throw std::runtime_error("bad " + std::to_string(i));
          return square(i);
        },
        threads(), ahead());
    for (std::int64_t i = 0; i < bad; ++i) EXPECT_EQ(items.next(), square(i));
    for (int again = 0; again < 3; ++again) {
      try {
        items.next();
        ADD_FAILURE() << "item " << bad << " did not throw";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(error.what(), "bad " + std::to_string(bad));
      }
    }
  }
}

TEST_P(PrefetchTest, CanBeDestroyedAtAnyMoment) {
  for (int taken = 0; taken < 20; ++taken) {
    Prefetch<std::int64_t> items(square, threads(), ahead());
    for (int i = 0; i < taken; ++i) items.next();
  }
}

TEST(PrefetchEndTest, NothingIsMadePastTheEndOrAnError) {
  for (const bool fails : {false, true}) {
    int made = 0;
    {
      Prefetch<std::int64_t> items(
          [&](std::int64_t i) {
            ++made;
            if (i == 3 && fails) throw std::runtime_error("bad");
            return i < 3 ? square(i) : std::nullopt;
          },
          /*threads=*/1, /*ahead=*/100);
      for (int i = 0; i < 3; ++i) items.next();
    }
    EXPECT_LE(made, 4);
  }
}

TEST(PrefetchOrderTest, WaitsForTheItemWhoseTurnItIs) {
  std::latch second_made(1);
  Prefetch<std::int64_t> items(
      [&](std::int64_t i) {
        if (i == 0) second_made.wait();
        if (i == 1) second_made.count_down();
        return square(i);
      },
      /*threads=*/2, /*ahead=*/2);
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(items.next(), square(i));
}

TEST(PrefetchReadyTest, IsNotReadyBeforeTheItemIsMade) {
  std::latch go(1);
  Prefetch<std::int64_t> items(
      [&](std::int64_t i) {
        go.wait();
        return square(i);
      },
      /*threads=*/1, /*ahead=*/1);
  EXPECT_FALSE(items.is_ready());
  go.count_down();
  EXPECT_EQ(items.next(), 0);
}

}  // namespace prefetch_test
}  // namespace pagoda
