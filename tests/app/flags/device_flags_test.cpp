#include "flags/device_flags.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace device_flags_test {

TEST(DeviceFlagsTest, WhatTheCommandLineSaysReachesTheFlags) {
  DeviceFlags flags;
  CLI::App command("a command", "command");
  add_device_flags(command, flags);
  command.parse("--devices sim:3 --cores-per-tower 2 --memory-limit 2GiB --memory-growth off");
  EXPECT_EQ(flags.devices, "sim:3");
  EXPECT_EQ(flags.options.cores_per_tower, 2);
  const MemoryOptions memory = chosen_memory(flags);
  EXPECT_EQ(memory.limit_bytes, std::int64_t{2} << 30);
  EXPECT_FALSE(memory.growth);
  for (const std::string& name : device_options())
    EXPECT_NE(command.get_option_no_throw("--" + name), nullptr) << name;
}

TEST(DeviceFlagsTest, LimitAndFractionExcludeEachOther) {
  DeviceFlags flags;
  CLI::App command("a command", "command");
  add_device_flags(command, flags);
  EXPECT_THROW(command.parse("--memory-limit 1GiB --memory-fraction 0.5"), CLI::Error);
}

TEST(DeviceFlagsTest, MemoryIsWithoutALimitUnlessItIsSaid) {
  const MemoryOptions memory = chosen_memory({});
  EXPECT_EQ(memory.fraction, std::nullopt);
  EXPECT_EQ(memory.limit_bytes, std::nullopt);
  EXPECT_TRUE(memory.growth);
  EXPECT_THROW(chosen_memory({.memory_limit = "2 elephants"}), UsageError);
}

TEST(DeviceFlagsTest, EveryPlacementHasItsNameAndAutoIsNone) {
  for (const ParameterPlacement placement : kEveryPlacement)
    EXPECT_EQ(chosen_placement(placement_name(placement)), placement);
  EXPECT_EQ(chosen_placement(kPlacedBySystem), std::nullopt);
}

TEST(DeviceFlagsTest, MemoryTextNamesEachDeviceAndItsLimitWhereItHasOne) {
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

}  // namespace device_flags_test
}  // namespace pagoda::app
