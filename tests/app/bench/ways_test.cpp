#include "bench/ways.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace ways_test {

std::vector<Device> cards(int count) {
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) devices.push_back({.kind = DeviceKind::sim, .index = i});
  return devices;
}

/// One device for each core.
std::vector<Device> cores(int count) {
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i)
    devices.push_back({.kind = DeviceKind::cpu, .index = i, .cores = {i}});
  return devices;
}

/// Whether those in 16 bits are there is the machine's affair.
std::vector<std::string> names(const std::vector<Way>& ways) {
  std::vector<std::string> all;
  for (const Way& way : ways) {
    if (way.precision == Precision::fp32) all.push_back(way.name());
  }
  return all;
}

std::size_t count_of(const std::vector<Way>& ways, const std::string& name) {
  const auto all = names(ways);
  return static_cast<std::size_t>(std::count(all.begin(), all.end(), name));
}

TEST(WaysTest, CardsAreTriedFromOneToAllWithEachPlacementTheyCanDo) {
  EXPECT_EQ(names(possible_ways(cards(3), 1)),
            (std::vector<std::string>{"1 card, host", "2 cards, mirrored", "2 cards, host",
                                      "2 cards, spread", "2 cards, async", "3 cards, mirrored",
                                      "3 cards, host", "3 cards, spread", "3 cards, async"}));
}

TEST(WaysTest, OneCoreHasOneWay) {
  EXPECT_EQ(names(possible_ways(cores(1), 7)),
            (std::vector<std::string>{"1 tower of 1 core, shared"}));
}

TEST(WaysTest, CoresAreSharedOutInPowersOfTwo) {
  const auto ways = possible_ways(cores(5), 1);
  for (const char* name :
       {"1 tower of 1 core, shared", "1 tower of 2 cores, shared", "1 tower of 4 cores, shared",
        "1 tower of 5 cores, shared", "2 towers of 1 core, shared", "2 towers of 2 cores, spread",
        "4 towers of 1 core, async", "5 towers of 1 core, mirrored"})
    EXPECT_EQ(count_of(ways, name), 1u) << name;
  EXPECT_EQ(count_of(ways, "3 towers of 1 core, shared"), 0u);
  for (const Way& way : ways) EXPECT_LE(way.size(), 5) << way.name();
}

TEST(WaysTest, EveryTowerHasCoresOfItsOwn) {
  for (const Way& way : possible_ways(cores(6), 1)) {
    std::vector<int> used;
    for (const Device& device : way.devices)
      used.insert(used.end(), device.cores.begin(), device.cores.end());
    std::sort(used.begin(), used.end());
    EXPECT_EQ(std::unique(used.begin(), used.end()), used.end()) << way.name();
    EXPECT_EQ(static_cast<int>(used.size()), way.size()) << way.name();
  }
}

TEST(WaysTest, StagesDivideTheDevicesAndAreNoMoreThanTheLayers) {
  for (const int layers : {1, 2, 3, 4, 9}) {
    std::vector<std::pair<std::size_t, int>> found;
    for (const Way& way : possible_ways(cards(6), layers)) {
      if (way.stages > 1) found.emplace_back(way.devices.size(), way.stages);
    }
    std::vector<std::pair<std::size_t, int>> expected;
    for (const auto& [devices, stages] :
         std::vector<std::pair<std::size_t, int>>{{2, 2}, {4, 2}, {4, 4}, {6, 2}}) {
      if (stages <= layers) expected.emplace_back(devices, stages);
    }
    EXPECT_EQ(found, expected) << layers;
  }
}

TEST(WaysTest, TheFirstWayOfEachIsAlsoTriedIn16BitsWhereTheDevicesAreFastInThem) {
  std::vector<Device> cuda = cards(2);
  for (Device& card : cuda) card.kind = DeviceKind::cuda;
  std::vector<std::string> narrow;
  for (const Way& way : possible_ways(cuda, 1)) {
    if (way.precision != Precision::fp32) narrow.push_back(way.name());
  }
  EXPECT_EQ(narrow,
            (std::vector<std::string>{"1 card, host, bf16", "1 card, host, fp16",
                                      "2 cards, mirrored, bf16", "2 cards, mirrored, fp16"}));
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    const auto ways = possible_ways(cores(1), 1);
    const auto found = std::count_if(ways.begin(), ways.end(),
                                     [&](const Way& way) { return way.precision == precision; });
    EXPECT_EQ(found, is_fast(precision, cores(1)[0]) ? 1 : 0) << precision_name(precision);
  }
  Way way{cores(1)};
  way.precision = Precision::bf16;
  EXPECT_NE(way.config().find("precision = \"bf16\"\n"), std::string::npos);
}

TEST(WaysTest, AConfigurationNamesWhatTheWayIs) {
  EXPECT_EQ((Way{cards(2), ParameterPlacement::spread}.config()),
            "devices = \"sim:0,sim:1\"\nparameters = \"spread\"\nupdate = \"sync\"\nprecision = "
            "\"fp32\"\n");
  EXPECT_EQ((Way{cards(2), ParameterPlacement::host, true}.config()),
            "devices = \"sim:0,sim:1\"\nparameters = \"host\"\nupdate = \"async\"\nprecision = "
            "\"fp32\"\n");
  EXPECT_EQ((Way{cards(4), ParameterPlacement::host, false, 2}.config()),
            "devices = \"sim:0,sim:1,sim:2,sim:3\"\nstages = 2\nparameters = \"host\"\n"
            "update = \"sync\"\nprecision = \"fp32\"\n");
  EXPECT_EQ((Way{cores(2), ParameterPlacement::shared}.config()),
            "devices = \"cpu:0,cpu:1\"\ncores-per-tower = 1\nparameters = \"shared\"\n"
            "update = \"sync\"\nprecision = \"fp32\"\n");
}

TEST(WaysTest, ASingleSimulatedCardIsNamedAsARangeBecauseANumberWouldCountCards) {
  EXPECT_EQ(
      (Way{cards(1), ParameterPlacement::host}.config()),
      "devices = \"sim:0-0\"\nparameters = \"host\"\nupdate = \"sync\"\nprecision = \"fp32\"\n");
}

}  // namespace ways_test
}  // namespace pagoda::app
