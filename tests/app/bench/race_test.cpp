#include "bench/race.h"

#include <pagoda/base/error.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace race_test {

using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::seconds;

/// A machine with a clock of its own, on which every try takes a second. It slows down and speeds
/// up while the race goes on; each contender has its own noise besides.
struct Track {
  Clock::time_point now = {};
  std::vector<std::string> order = {};
  int tries = 0;

  Contender contender(const std::string& name, double speed, double noise = 0.0) {
    return {name, [this, name, speed, noise, own = 0]() mutable {
              now += seconds(1);
              order.push_back(name);
              const double drift = 1 + 0.4 * std::sin(tries++ * 0.05);
              return speed * drift * (1 + noise * std::sin(own++ * 12.9898));
            }};
  }
  RaceOptions options(int budget) {
    return {.budget = seconds(budget), .now = [this] { return now; }};
  }
};

std::vector<std::string> names(const std::vector<Contender>& contenders,
                               const std::vector<Standing>& standings) {
  std::vector<std::string> all;
  for (const auto& one : standings)
    all.push_back(contenders[static_cast<std::size_t>(one.contender)].name);
  return all;
}

TEST(RaceTest, RanksByTheRatesOfTheSameRounds) {
  Track track;
  const std::vector<Contender> contenders{
      track.contender("b", 100, 0.05), track.contender("d", 50, 0.05),
      track.contender("a", 110, 0.05), track.contender("e", 20, 0.05),
      track.contender("c", 80, 0.05)};
  const auto standings = race(contenders, track.options(400));
  EXPECT_EQ(names(contenders, standings), (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(standings[0].relative, 1);
  EXPECT_NEAR(standings[1].relative, 100.0 / 110, 0.05);
  EXPECT_NEAR(standings[4].relative, 20.0 / 110, 0.05);
  EXPECT_EQ(standings[4].rounds, 5) << "left at the first halving";
  EXPECT_GT(standings[0].rounds, 100) << "the last two have the rest of the budget";
  EXPECT_EQ(standings[0].rounds, standings[1].rounds);
}

TEST(RaceTest, KeepsToItsBudget) {
  for (const int budget : {20, 33, 57}) {
    Track track;
    race({track.contender("a", 3), track.contender("b", 2), track.contender("c", 1)},
         track.options(budget));
    EXPECT_LE(track.now.time_since_epoch(), seconds(budget + 2)) << "the last round is finished";
  }
}

TEST(RaceTest, EverybodyIsFirstInTurn) {
  Track track;
  race({track.contender("a", 3), track.contender("b", 2), track.contender("c", 1)},
       {.budget = seconds(100), .rounds_before_halving = 6, .most_rounds = 6, .now = [&] {
          return track.now;
        }});
  std::string first;
  for (std::size_t round = 0; round < 6; ++round) first += track.order[round * 3];
  EXPECT_EQ(first, "abccab") << "each order, and each turned round";
}

TEST(RaceTest, TheIntervalHoldsTheMedian) {
  Track track;
  const auto standings =
      race({track.contender("a", 100, 0.2), track.contender("b", 99, 0.2)}, track.options(200));
  for (const auto& one : standings) {
    EXPECT_LT(one.low, one.rate);
    EXPECT_GT(one.high, one.rate);
  }
}

TEST(RaceTest, OneContenderWins) {
  Track track;
  const auto standings = race({track.contender("a", 7)}, track.options(10));
  ASSERT_EQ(standings.size(), 1);
  EXPECT_EQ(standings[0].contender, 0);
  EXPECT_EQ(standings[0].rounds, 10);
}

TEST(RaceTest, ATooShortBudgetIsAnErrorThatSaysSo) {
  Track track;
  try {
    race({track.contender("a", 2), track.contender("b", 1)}, track.options(5));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("budget of 5 s ended after 3 rounds"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW(race({}, track.options(5)), UsageError);
}

TEST(RaceTest, WhatAContenderThrowsReachesTheCaller) {
  const Contender bad{"bad", []() -> double { throw std::runtime_error("no such device"); }};
  EXPECT_THROW(race({bad}), std::runtime_error);
}

}  // namespace race_test
}  // namespace pagoda::app
