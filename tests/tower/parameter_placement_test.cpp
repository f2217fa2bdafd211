#include <pagoda/base/error.h>
#include <pagoda/tower/parameter_placement.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/tower_fixtures.h"

namespace pagoda {
namespace placement_test {

const Device kCpu = {.kind = DeviceKind::cpu, .index = 0};
const Device kCuda = {.kind = DeviceKind::cuda, .index = 3};
const Device kSim = {.kind = DeviceKind::sim, .index = 1};

TEST(PlacementTest, ParametersAreSharedWhereTheMemoryIs) {
  EXPECT_EQ(resolve_placement({kCpu, kCpu}, std::nullopt), ParameterPlacement::shared);
  EXPECT_EQ(resolve_placement({kCpu, kSim}, std::nullopt), ParameterPlacement::host);
  EXPECT_EQ(resolve_placement({kCuda}, std::nullopt), ParameterPlacement::host);
}

TEST(PlacementTest, AWishIsFulfilledWhereItCanBe) {
  for (const ParameterPlacement wish : kEveryPlacement) {
    EXPECT_EQ(resolve_placement({kCpu, kCpu}, wish), wish) << placement_name(wish);
    if (wish == ParameterPlacement::shared) continue;
    EXPECT_EQ(resolve_placement({kCuda, kCuda}, wish), wish) << placement_name(wish);
  }
  EXPECT_EQ(resolve_placement({kCpu, kCuda}, ParameterPlacement::spread),
            ParameterPlacement::spread);
}

TEST(PlacementTest, RefusesWhatADeviceCannotDo) {
  const auto message = [](const std::vector<Device>& devices,
                          std::optional<ParameterPlacement> wish) {
    return testing::message_of<UsageError>([&] { resolve_placement(devices, wish); });
  };
  EXPECT_EQ(message({kCuda}, ParameterPlacement::shared),
            "parameters cannot be shared with cuda:3, which has memory of its own; place them "
            "mirrored, host or spread");
  EXPECT_EQ(message({kCpu, kCuda}, ParameterPlacement::mirrored),
            "parameters cannot be mirrored on cpu:0 and cuda:3, devices of two kinds; place them "
            "host or spread");
  EXPECT_EQ(message({}, std::nullopt), "no device to build a tower on; name at least one");
}

}  // namespace placement_test
}  // namespace pagoda
