#include <pagoda/memory/memory_account.h>

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace memory_account_test {

TEST(MemoryAccountTest, CountsWhatIsInUseAndTheMost) {
  MemoryAccount account("sim:0");
  account.charge(100);
  account.charge(50);
  account.release(120);
  EXPECT_EQ(account.in_use(), 30);
  EXPECT_EQ(account.peak(), 150);
  account.reset_peak();
  EXPECT_EQ(account.peak(), 30);
  EXPECT_FALSE(account.limit());
}

TEST(MemoryAccountTest, RefusesWhatWouldPassTheLimitAndCountsNothing) {
  MemoryAccount account("cpu:1", 2048);
  account.charge(2048);  // exactly full is allowed
  account.charge(0);
  account.release(1024);
  try {
    account.charge(1025);
    FAIL();
  } catch (const MemoryLimitError& error) {
    EXPECT_EQ(error.device(), "cpu:1");
    EXPECT_EQ(error.limit(), 2048);
    EXPECT_EQ(error.in_use(), 1024);
    EXPECT_EQ(error.asked_for(), 1025);
    const std::string text = error.what();
    EXPECT_NE(text.find("cpu:1: limit 2.0 KiB, in use 1.0 KiB, asked for 1.0 KiB"),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(account.in_use(), 1024);
  EXPECT_EQ(account.peak(), 2048);
  EXPECT_THROW(account.charge(std::numeric_limits<std::int64_t>::max()), MemoryLimitError);
}

TEST(MemoryAccountTest, ALimitCanComeAndGo) {
  MemoryAccount account("sim:0");
  account.set_limit(10);
  EXPECT_EQ(account.limit(), 10);
  EXPECT_THROW(account.charge(11), MemoryLimitError);
  account.set_limit(std::nullopt);
  account.charge(11);
  EXPECT_EQ(account.in_use(), 11);
}

TEST(MemoryAccountTest, ThreadsNeverPassTheLimitTogether) {
  MemoryAccount account("sim:0", 100);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20'000; ++n) {
        try {
          account.charge(40);
          account.release(40);
        } catch (const MemoryLimitError&) {
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(account.in_use(), 0);
  EXPECT_LE(account.peak(), 100);
  EXPECT_GE(account.peak(), 40);
}

}  // namespace memory_account_test
}  // namespace pagoda
