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
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU}) {
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

TEST(StopSignalDeathTest, AClosedTerminalOrABatchSystemMayTellTwiceAndBesideOthers) {
  for (const int number : {SIGHUP, SIGUSR1, SIGXCPU}) {
    for (const int other : {SIGINT, SIGTERM, number}) {
      const auto raise_around = [number, other] {
        const StopSignal signal;
        std::raise(number);
        std::raise(other);
        std::raise(number);
        std::_Exit(signal.number() == other ? 0 : 1);
      };
      EXPECT_EXIT(raise_around(), ::testing::ExitedWithCode(0), "");
    }
  }
}

TEST(StopSignalTest, TheProgramsOwnHandlersOfWhatBatchSystemsSendStay) {
  for (const int number : {SIGUSR1, SIGXCPU}) {
    const auto before = std::signal(number, [](int) {});
    {
      const StopSignal signal;
      std::raise(number);
      EXPECT_FALSE(signal.asked());
    }
    std::signal(number, before);
  }
}

TEST(StopSignalTest, WhatWasIgnoredStaysIgnored) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU}) {
    const auto before = std::signal(number, SIG_IGN);
    {
      const StopSignal signal;
      std::raise(number);
      EXPECT_FALSE(signal.asked());
    }
    EXPECT_EQ(std::signal(number, before), SIG_IGN);
  }
}

TEST(StopSignalTest, WhoeverReadsTheLogMayGoAndFilesMayBeTooLarge) {
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    const auto before = std::signal(number, SIG_DFL);
    { const StopSignal signal; }
    EXPECT_EQ(std::signal(number, before), SIG_IGN);
  }
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
