#include "bench/choice.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

#include "app/bench/given_model.h"

namespace pagoda::app {
namespace choice_test {

using namespace given_model;

constexpr std::chrono::hours kLong{1};  // rates that are given take no time

TEST(ChoiceTest, OneDeviceWinsWhereMoreGainNothing) {
  const auto choice = race_ways(GivenModel([](const Asked& asked) {
                                  const bool wide = asked.options.precision == Precision::fp32;
                                  return (wide ? 100.0 : 90.0) / asked.devices;
                                }),
                                possible_ways(cards(4), kLayers), {}, {.budget = kLong});
  EXPECT_EQ(choice.winner().name(), "1 card, host");
  EXPECT_EQ(choice.verdict(), "One device is the fastest: more of them do not pay here.");
}

TEST(ChoiceTest, APrecisionOf16BitsWinsWhereItIsFaster) {
  std::vector<Device> cuda = cards(2);
  for (Device& card : cuda) card.kind = DeviceKind::cuda;  // fast in all
  const auto choice = race_ways(GivenModel([](const Asked& asked) {
                                  const bool best = asked.options.precision == Precision::bf16;
                                  return (best ? 100.0 : 90.0) / asked.devices;
                                }),
                                possible_ways(cuda, kLayers), {}, {.budget = kLong});
  EXPECT_EQ(choice.winner().name(), "1 card, host, bf16");
  EXPECT_EQ(choice.verdict(), "One device is the fastest, in bf16: more of them do not pay here.");
}

TEST(ChoiceTest, AllDevicesWinWhereTheyDivideTheWork) {
  const auto choice = race_ways(GivenModel([](const Asked& asked) {
                                  const bool best =
                                      asked.options.placement == ParameterPlacement::spread;
                                  return asked.devices * (best ? 1.1 : 1.0);
                                }),
                                possible_ways(cards(3), kLayers), {}, {.budget = kLong});
  EXPECT_EQ(choice.winner().name(), "3 cards, spread");
  EXPECT_EQ(choice.verdict(), "The fastest: 3 cards, spread.");
}

TEST(ChoiceTest, StagesAndAsynchronousUpdatesCanWin) {
  const auto staged = race_ways(
      GivenModel([](const Asked& asked) { return asked.options.stages == 4 ? 2.0 : 1.0; }),
      possible_ways(cards(4), kLayers), {}, {.budget = kLong});
  EXPECT_EQ(staged.winner().name(), "4 cards, 4 stages");
  const auto async = race_ways(GivenModel([](const Asked& asked) {
                                 return asked.mode == BenchMode::async ? asked.devices : 0.5;
                               }),
                               possible_ways(cards(2), kLayers), {}, {.budget = kLong});
  EXPECT_EQ(async.winner().name(), "2 cards, async");
}

TEST(ChoiceTest, AGlobalBatchIsDividedAmongTheDevicesOfAWay) {
  const auto choice =
      race_ways(GivenModel([](const Asked& asked) {
                  EXPECT_EQ(asked.options.batch_size * asked.devices, 12);
                  return 1.0;
                }),
                possible_ways(cards(4), kLayers), {.global_batch_size = 12}, {.budget = kLong});
  EXPECT_EQ(choice.standings.size(), choice.ways.size());
  EXPECT_THROW(
      race_ways(GivenModel([](const Asked&) { return 1.0; }), possible_ways(cards(4), kLayers),
                {.global_batch_size = 6}, {.budget = kLong}),
      UsageError);
}

TEST(ChoiceTest, TheChartHasTheBestWayOfEachNumberOfDevices) {
  // One card: 10. Two: 20 at best. Three: 15 at best.
  const auto choice = race_ways(GivenModel([](const Asked& asked) {
                                  if (asked.devices == 1) return 10.0;
                                  const bool best =
                                      asked.options.placement == ParameterPlacement::mirrored;
                                  return (asked.devices == 2 ? 20.0 : 15.0) / (best ? 1 : 2);
                                }),
                                possible_ways(cards(3), kLayers), {}, {.budget = kLong});
  const SpeedChart chart = choice.chart("given");
  EXPECT_EQ(chart.title, "speed-up of given");
  ASSERT_EQ(chart.points.size(), 3u);
  const double expected[] = {1, 2, 1.5};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(chart.points[i].devices, static_cast<int>(i) + 1);
    EXPECT_DOUBLE_EQ(chart.points[i].speed_up, expected[i]);
    EXPECT_DOUBLE_EQ(chart.points[i].low, expected[i]);
    EXPECT_DOUBLE_EQ(chart.points[i].high, expected[i]);
  }
}

}  // namespace choice_test
}  // namespace pagoda::app
