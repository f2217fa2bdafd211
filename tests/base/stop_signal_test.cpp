#include <pagoda/base/stop_signal.h>

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

namespace pagoda {
namespace stop_signal_test {

TEST(StopSignalTest, NothingWasAsked) {
  const StopSignal signal;
  EXPECT_FALSE(signal.asked());
  EXPECT_EQ(signal.exit_code(), 0);
}

TEST(StopSignalTest, TheFirstSignalIsOnlyNoted) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const StopSignal signal;
    std::raise(number);
    EXPECT_TRUE(signal.asked());
    EXPECT_EQ(signal.number(), number);
    EXPECT_EQ(signal.exit_code(), 128 + number);
  }
}

TEST(StopSignalDeathTest, TheSecondSignalEndsTheProcessAtOnce) {
  const auto interrupt_twice = [] {
    const StopSignal signal;
    std::raise(SIGINT);
    std::raise(SIGTERM);
  };
  EXPECT_EXIT(interrupt_twice(), ::testing::ExitedWithCode(128 + SIGTERM), "");
}

TEST(StopSignalDeathTest, AClosedTerminalMayTellTwiceAndBesideOthers) {
  for (const int other : {SIGINT, SIGTERM, SIGHUP}) {
    const auto hang_up_around = [other] {
      const StopSignal signal;
      std::raise(SIGHUP);
      std::raise(other);
      std::raise(SIGHUP);
      std::_Exit(signal.number() == other ? 0 : 1);
    };
    EXPECT_EXIT(hang_up_around(), ::testing::ExitedWithCode(0), "");
  }
}

TEST(StopSignalTest, WhatWasIgnoredStaysIgnored) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = std::signal(number, SIG_IGN);
    {
      const StopSignal signal;
      std::raise(number);
      EXPECT_FALSE(signal.asked());
    }
    EXPECT_EQ(std::signal(number, before), SIG_IGN);
  }
}

TEST(StopSignalTest, WhoeverReadsTheLogMayGo) {
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  { const StopSignal signal; }
  EXPECT_EQ(std::signal(SIGPIPE, before), SIG_IGN);
}

TEST(StopSignalDeathTest, AfterwardsSignalsEndTheProcessAsUsual) {
  const auto interrupt_after = [] {
    { const StopSignal signal; }
    std::raise(SIGTERM);
  };
  EXPECT_EXIT(interrupt_after(), ::testing::KilledBySignal(SIGTERM), "");
}

}  // namespace stop_signal_test
}  // namespace pagoda
