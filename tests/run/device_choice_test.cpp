#include <pagoda/base/error.h>
#include <pagoda/run/device_choice.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pagoda {
namespace device_choice_test {

TEST(DeviceChoiceTest, ProcessesOfOneMachineDivideItsDevices) {
  const auto all = ChosenDevices(DeviceChoice{}).list();
  for (const int processes : {1, static_cast<int>(all.size())}) {
    std::vector<std::string> found;
    for (int rank = 0; rank < processes; ++rank) {
      const ChosenDevices own(DeviceChoice{.local_rank = rank, .local_size = processes});
      for (const Device& device : own.list()) found.push_back(device.label());
    }
    ASSERT_EQ(found.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(found[i], all[i].label());
  }
}

TEST(DeviceChoiceTest, DevicesThatAreNamedAreNotDivided) {
  const ChosenDevices own(DeviceChoice{.devices = "2", .local_rank = 1, .local_size = 2});
  EXPECT_EQ(own.count(), 2);
}

TEST(DeviceChoiceTest, RefusesMoreProcessesThanDevices) {
  const int too_many = ChosenDevices(DeviceChoice{}).count() + 1;
  EXPECT_THROW(ChosenDevices(DeviceChoice{.local_size = too_many}), UsageError);
}

TEST(DeviceChoiceTest, MemoryTextNamesEachDeviceAndItsLimitWhereItHasOne) {
  const Device first{.kind = DeviceKind::sim, .index = 0};
  const Device second{.kind = DeviceKind::sim, .index = 1};
  const std::int64_t mebibyte = 1 << 20;
  MemoryUse limited;
  limited.in_use = 1 * mebibyte;
  limited.peak = 2 * mebibyte;
  limited.limit = 3 * mebibyte;
  MemoryUse open;
  open.in_use = 512;
  open.peak = 1024;
  EXPECT_EQ(memory_text({first, second}, {limited, open}),
            "memory sim:0 1.0 MiB (peak 2.0 MiB) of 3.0 MiB, sim:1 512 B (peak 1.0 KiB)");
}

}  // namespace device_choice_test
}  // namespace pagoda
