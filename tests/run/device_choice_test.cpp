#include <pagoda/run/device_choice.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace device_choice_test {

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
