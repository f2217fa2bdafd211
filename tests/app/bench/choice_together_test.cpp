#include "bench/choice_together.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

#include "app/bench/given_model.h"
#include "world/ranks.h"

namespace pagoda::app {
namespace choice_together_test {

using namespace given_model;

constexpr double kLongSeconds = 3600;  // rates that are given take no time

BenchOptions options_in(const std::shared_ptr<World>& world) {
  return {.steps = 4, .world = world};
}

/// What each of two processes with two cards chooses, where these are their rates.
std::vector<TogetherChoice> chosen_by_two(
    const std::function<Given(int rank, const Asked& asked)>& rate) {
  auto worlds = World::in_process(2, {.timeout = std::chrono::seconds(60)});
  std::vector<TogetherChoice> found(worlds.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    threads.emplace_back([&, rank] {
      const GivenModel model(
          [&](const Asked& asked) { return rate(static_cast<int>(rank), asked); });
      found[rank] = race_together(model, {.devices = "sim:2"}, cards(2), options_in(worlds[rank]),
                                  kLongSeconds);
      worlds[rank].reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return found;
}

std::string standings_text(const Choice& choice) {
  std::string text;
  for (const Standing& one : choice.standings)
    text += choice.way(one).name() + " " + std::to_string(one.rate) + " " +
            std::to_string(one.rounds) + "\n";
  return text;
}

TEST(ChoiceTogetherTest, TheSumOfTheRatesDecidesAtEveryProcess) {
  // Alone, rank 0 would take host and rank 1 spread; together mirrored is the fastest.
  const auto found = chosen_by_two([](int rank, const Asked& asked) -> Given {
    if (asked.options.placement == ParameterPlacement::mirrored) return 8.0;
    const bool favourite = asked.options.placement ==
                           (rank == 0 ? ParameterPlacement::host : ParameterPlacement::spread);
    return favourite ? 9.0 : 1.0;
  });
  EXPECT_EQ(found[0].kept(false).name(), "4 cards in 2 processes, mirrored");
  EXPECT_EQ(found[0].computing.standings.front().rate, 16);
  EXPECT_EQ(standings_text(found[0].computing), standings_text(found[1].computing));
  EXPECT_EQ(standings_text(found[0].exchanges), standings_text(found[1].exchanges));
}

TEST(ChoiceTogetherTest, AnExchangeThatComputesOtherNumbersIsKeptOnlyWhereAnyWillDo) {
  const auto found = chosen_by_two([](int, const Asked& asked) -> Given {
    double rate = asked.options.placement == ParameterPlacement::spread ? 20 : 10;
    if (asked.options.wire == WireType::bf16) rate *= 1.5;
    if (asked.options.local_steps.every == 50) rate *= 6;
    return rate;
  })[0];
  EXPECT_EQ(found.kept(false).name(), "4 cards in 2 processes, spread");
  EXPECT_TRUE(found.kept(false).together->keeps_numbers());
  EXPECT_EQ(found.kept(true).together->sync_every, 50);
  EXPECT_NE(found.kept(true).placement, ParameterPlacement::spread);
  const std::string verdict = found.verdict(false);
  EXPECT_NE(verdict.find("The fastest: 4 cards in 2 processes, spread."), std::string::npos);
  EXPECT_NE(verdict.find("3.00 times as fast with --"), std::string::npos) << verdict;
  EXPECT_NE(verdict.find("1.50 times as fast with --wire bf16"), std::string::npos) << verdict;
  EXPECT_EQ(verdict.find("fp16"), std::string::npos) << verdict;
}

TEST(ChoiceTogetherTest, ARoundEndsWithAMeetingAndTheCostIsThatOfAStep) {
  const auto found = chosen_by_two([](int rank, const Asked& asked) -> Given {
    EXPECT_EQ(asked.options.steps % asked.options.local_steps.every, 0);
    EXPECT_GE(asked.options.steps, 4);
    return {1.0,
            {.bytes = 1000 / asked.options.local_steps.every, .seconds = rank == 0 ? 0.1 : 0.3}};
  })[1];
  for (std::size_t i = 0; i < found.exchanges.ways.size(); ++i) {
    const int every = found.exchanges.ways[i].together->sync_every;
    EXPECT_NEAR(found.exchanges.costs[i].bytes, 1000.0 / every, 1e-9);
    EXPECT_NEAR(found.exchanges.costs[i].seconds, 0.2, 1e-9);  // of both
  }
  EXPECT_NE(found.verdict(false).find("No other exchange is faster."), std::string::npos);
}

TEST(ChoiceTogetherTest, ProcessesThatWereToldDifferentThingsAreNamed) {
  auto worlds = World::in_process(2, {.timeout = std::chrono::seconds(60)});
  std::vector<std::string> said(2);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      BenchOptions options = options_in(worlds[rank]);
      options.steps += static_cast<std::int64_t>(rank);
      try {
        race_together(GivenModel([](const Asked&) { return 1.0; }), {.devices = "sim:1"}, cards(1),
                      options, kLongSeconds);
      } catch (const UsageError& error) {
        said[rank] = error.what();
      }
      options.world.reset();
      worlds[rank].reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : said) {
    EXPECT_NE(text.find("rank 1"), std::string::npos) << text;
    EXPECT_NE(text.find("--steps 5"), std::string::npos) << text;
  }
}

}  // namespace choice_together_test
}  // namespace pagoda::app
