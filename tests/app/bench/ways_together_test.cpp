#include "bench/ways_together.h"

#include <pagoda/base/error.h>
#include <pagoda/device/cpu_cores.h>

#include <mutex>

#include <gtest/gtest.h>

#include "app/bench/given_model.h"
#include "world/ranks.h"

namespace pagoda::app {
namespace ways_together_test {

using given_model::cards;

/// What each of so many processes finds.
std::vector<std::vector<Way>> found_by(int processes,
                                       const std::function<std::vector<Way>(World& world)>& find) {
  std::vector<std::vector<Way>> all(static_cast<std::size_t>(processes));
  on_ranks(processes,
           [&](World& world) { all[static_cast<std::size_t>(world.rank())] = find(world); });
  return all;
}

std::vector<std::string> names(const std::vector<Way>& ways) {
  std::vector<std::string> all;
  for (const Way& way : ways) all.push_back(way.name());
  return all;
}

TEST(WaysTogetherTest, CardsOfAllProcessesAreCountedAndOnlyCommonWaysAreLeft) {
  const auto found = found_by(2, [](World& world) {  // 2 cards and 3
    return ways_of_all(world, {.devices = "sim"}, cards(2 + world.rank()), 4, {});
  });
  const std::vector<std::string> expected{"5 cards in 2 processes, mirrored",
                                          "5 cards in 2 processes, host",
                                          "5 cards in 2 processes, spread"};  // 3 make no 2 stages
  EXPECT_EQ(names(found[0]), expected);
  EXPECT_EQ(names(found[1]), expected);
  EXPECT_EQ(found[1].front().devices.size(), 3u);
  EXPECT_EQ(found[1].front().config(),
            "devices = \"sim\"\nparameters = \"mirrored\"\nupdate = \"sync\"\n"
            "precision = \"fp32\"\nwire = \"fp32\"\nsync-every = 1\n");
}

TEST(WaysTogetherTest, ProcessesThatDivideAMachineHaveTowersOfAllTheirCores) {
  const auto cores = static_cast<int>(usable_cores().cores.size());
  if (cores < 2) GTEST_SKIP() << "one core cannot be divided";
  const auto found = found_by(2, [](World& world) {
    const DeviceChoice choice{.local_rank = world.rank(), .local_size = 2};
    return ways_of_all(world, choice, ChosenDevices(choice).list(), 1, {});
  });
  EXPECT_EQ(names(found[0]), names(found[1]));
  for (std::size_t i = 0; i < found[0].size(); ++i) {
    std::vector<Device> both = found[0][i].devices;
    both.insert(both.end(), found[1][i].devices.begin(), found[1][i].devices.end());
    EXPECT_TRUE(shared_cores(both).empty()) << found[0][i].name();
    EXPECT_EQ(found[0][i].together->devices, static_cast<int>(both.size()));
    EXPECT_NE(found[0][i].config().find("devices = \"all\"\ncores-per-tower = "),
              std::string::npos);
  }
}

TEST(WaysTogetherTest, ProcessesWithoutACommonWayAreTold) {
  on_ranks(2, [](World& world) {
    std::vector<Device> devices = cards(1);
    if (world.rank() == 1) devices = {{.kind = DeviceKind::cpu, .index = 0, .cores = {0}}};
    const DeviceChoice choice{.options = {.cores_per_tower = world.rank() + 1}};
    EXPECT_THROW(ways_of_all(world, choice, devices, 1, {}), UsageError);
  });
}

TEST(WaysTogetherTest, OtherExchangesAreWiresAndMeetingsWhichNeedTheWholeState) {
  const WayTogether together{.processes = 2, .devices = 4, .chosen = "sim:2"};
  const auto ways = ways_on(cards(2), 1, together);
  ASSERT_EQ(ways.back().placement, ParameterPlacement::spread);
  const auto exchanges = with_exchanges(ways.back(), ways.front());
  std::vector<std::string> differences;
  for (const Way& way : exchanges) {
    differences.push_back(difference_text(way, ways.back()));
    EXPECT_EQ(way.together->keeps_numbers(), differences.back().empty());
  }
  EXPECT_EQ(differences, (std::vector<std::string>{"", "--wire bf16", "--wire fp16",
                                                   "--parameters mirrored --sync-every 10",
                                                   "--parameters mirrored --sync-every 50"}));
  EXPECT_EQ(exchanges.back().name(), "4 cards in 2 processes, mirrored, meeting every 50 steps");
  EXPECT_EQ(exchanges[1].name(), "4 cards in 2 processes, spread, bf16");
  EXPECT_NE(exchanges[1].config().find("wire = \"bf16\"\n"), std::string::npos);
  for (const Way& way : ways_on(cards(2), 1, {.sync_every = 10}))
    EXPECT_NE(way.placement, ParameterPlacement::spread);
}

}  // namespace ways_together_test
}  // namespace pagoda::app
