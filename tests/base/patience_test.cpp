#include "base/patience.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

namespace pagoda {
namespace patience_test {

using namespace std::chrono_literals;

class PatienceTest : public ::testing::Test {
 protected:
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock<std::mutex> lock{mutex};
};

TEST_F(PatienceTest, WhatIsDoneNeedsNone) {
  Patience none(0s);
  EXPECT_TRUE(none.wait(changed, lock, [] { return true; }));
  EXPECT_FALSE(none.wait(changed, lock, [] { return false; }));
  EXPECT_FALSE(none.wait(changed, lock));
}

TEST_F(PatienceTest, EndsWhenTheTimeIsUsedUp) {
  Patience patience(20ms);
  EXPECT_FALSE(patience.wait(changed, lock, [] { return false; }));
  EXPECT_LE(patience.left(), 0s);
}

TEST_F(PatienceTest, WaitsForAnotherThread) {
  bool is_done = false;
  std::thread other([&] {
    const std::lock_guard own(mutex);
    is_done = true;
    changed.notify_all();
  });
  Patience patience(24h);
  EXPECT_TRUE(patience.wait(changed, lock, [&] { return is_done; }));
  EXPECT_LE(patience.left(), 24h);
  lock.unlock();
  other.join();
}

TEST_F(PatienceTest, ANightSuspendedCountsAsOneShortWait) {
  Patience patience(60s);
  patience.spend(12h);
  EXPECT_GE(patience.left(), 55s);
  patience.spend(250ms);
  EXPECT_GE(patience.left(), 54s);
}

}  // namespace patience_test
}  // namespace pagoda
