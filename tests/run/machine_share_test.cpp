#include "run/machine_share.h"

#include <gtest/gtest.h>

#include "world/ranks.h"

namespace pagoda {
namespace machine_share_test {

Device cores(std::vector<int> numbers) { return {.cores = std::move(numbers)}; }
Device card(int number) { return {.kind = DeviceKind::cuda, .original = number}; }

TEST(MachineShareTest, DevicesThatNobodyElseHasAreOnesOwn) {
  const std::vector<std::vector<Device>> devices{{cores({0, 1}), cores({4})},
                                                 {cores({1})},
                                                 {cores({2}), cores({3})},
                                                 {card(0)},
                                                 {card(1)},
                                                 {}};
  const std::vector<char> expected{false, false, true, true, true, true};
  std::vector<char> found(devices.size());
  on_ranks(static_cast<int>(devices.size()), [&](World& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    found[rank] = has_own_devices(world, devices[rank]);
  });
  EXPECT_EQ(found, expected);
}

}  // namespace machine_share_test
}  // namespace pagoda
