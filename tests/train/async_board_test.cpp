#include "train/async_board.h"

#include <pagoda/base/error.h>

#include <chrono>
#include <future>

#include <gtest/gtest.h>

namespace pagoda {
namespace async_board_test {

constexpr std::chrono::milliseconds kLong{60'000};
constexpr std::chrono::milliseconds kNone{0};

TEST(AsyncBoardTest, TowersAreTakenInTheOrderInWhichTheyBecameFree) {
  AsyncBoard board(3);
  EXPECT_EQ(board.take_tower(kLong), 0);
  EXPECT_EQ(board.take_tower(kLong), 1);
  board.give_back(1, /*failed=*/false);
  board.give_back(0, /*failed=*/false);
  EXPECT_EQ(board.take_tower(kLong), 2);
  EXPECT_EQ(board.take_tower(kLong), 1);
  EXPECT_EQ(board.take_tower(kLong), 0);
  EXPECT_THROW(board.take_tower(kNone), DeviceError);
}

TEST(AsyncBoardTest, ATowerThatFailedIsTakenNextAndEndsTheWaitForUpdates) {
  AsyncBoard board(2);
  board.take_tower(kLong);
  EXPECT_THROW(board.take_done(kNone), DeviceError);
  EXPECT_FALSE(board.failed());
  board.give_back(0, /*failed=*/true);
  EXPECT_TRUE(board.take_done(kLong).empty());
  EXPECT_TRUE(board.failed());
  EXPECT_EQ(board.take_tower(kLong), 0);
  board.clear(2);
  EXPECT_FALSE(board.failed());
  EXPECT_EQ(board.take_tower(kLong), 0);
  EXPECT_EQ(board.take_tower(kLong), 1);
}

TEST(AsyncBoardTest, UpdatesAreTakenOnce) {
  AsyncBoard board(2);
  auto waiting = std::async(std::launch::async, [&] { return board.take_done(kLong).size(); });
  board.add({.tower = 1, .scores = {}, .outcome = {}});
  board.add({.tower = 0, .scores = {}, .outcome = {}});
  board.give_back(board.take_tower(kLong), /*failed=*/false);  // tells who waits
  const std::size_t first = waiting.get();
  EXPECT_GE(first, 1u);
  if (first == 1) {
    EXPECT_EQ(board.take_done(kLong).size(), 1u);
  }
  EXPECT_THROW(board.take_done(kNone), DeviceError);
}

}  // namespace async_board_test
}  // namespace pagoda
