#include <pagoda/base/error.h>
#include <pagoda/device/device_memory.h>
#include <pagoda/memory/memory_account.h>

#include <limits>

#include <gtest/gtest.h>

#include "support/fresh_process.h"
#include "support/sim_machine.h"

namespace pagoda {
namespace device_memory_test {

using testing::on_sim;
using testing::OtherSimMachine;

std::vector<Device> cpus(int count, std::int64_t memory_bytes) {
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i)
    devices.push_back({.kind = DeviceKind::cpu, .index = i, .memory_bytes = memory_bytes});
  return devices;
}

TEST(DeviceMemoryTest, AFractionIsOfEachDevicesPart) {
  const OtherSimMachine machine(
      2, {.card = {.memory_bytes = 1000}, .single_cards = {{1, {.memory_bytes = 500}}}});
  const auto cards = with_memory(machine.devices(), {.fraction = 0.7});
  EXPECT_EQ(cards[0].memory_limit, 700);
  EXPECT_EQ(cards[1].memory_limit, 350);
  EXPECT_TRUE(cards[0].memory_growth);
  EXPECT_EQ(with_memory(cpus(4, 4000), {.fraction = 0.5})[3].memory_limit, 500);
  EXPECT_EQ(with_memory(cpus(4, 4000), {.limit_bytes = 600})[3].memory_limit, 600);
  EXPECT_FALSE(with_memory(cpus(4, 4000), {})[0].memory_limit);
  EXPECT_EQ(with_memory(cpus(4, 4000), {.growth = false})[0].memory_limit, 1000);
}

TEST(DeviceMemoryTest, LimitsThatCannotBeAreRefused) {
  const auto refused = [](const MemoryOptions& options) {
    EXPECT_THROW(with_memory(cpus(2, 4000), options), UsageError);
  };
  refused({.fraction = 0});
  refused({.fraction = -0.5});
  refused({.fraction = 1.5});
  refused({.fraction = std::numeric_limits<double>::quiet_NaN()});
  refused({.limit_bytes = 0});
  refused({.limit_bytes = 2001});  // half of the machine's memory belongs to each
  refused({.fraction = 0.5, .limit_bytes = 5});
}

TEST(DeviceMemoryTest, AClaimMakesTheLimitHold) {
  const OtherSimMachine machine(1, {.card = {.memory_bytes = 1 << 20}});
  auto cards = with_memory(machine.devices(), {.limit_bytes = 1 << 19});
  std::optional<MemoryClaim> claim(cards[0]);
  EXPECT_THROW(at::empty({(1 << 19) + 1}, on_sim(0).dtype(at::kByte)), MemoryLimitError);
  const at::Tensor fits = at::empty({1 << 18}, on_sim(0).dtype(at::kByte));
  const MemoryUse use = memory_use(cards[0]);
  EXPECT_EQ(use.total, 1 << 20);
  EXPECT_EQ(use.limit, 1 << 19);
  EXPECT_EQ(use.free, use.total - use.in_use);
  EXPECT_GE(use.in_use, 1 << 18);
  EXPECT_GE(use.peak, use.in_use);
  {
    const MemoryClaim whole(machine.devices()[0]);  // without a limit: all of the card again
    EXPECT_EQ(at::empty({(1 << 19) + 1}, on_sim(0).dtype(at::kByte)).numel(), (1 << 19) + 1);
  }
  EXPECT_THROW(at::empty({(1 << 19) + 1}, on_sim(0).dtype(at::kByte)), MemoryLimitError)
      << "the earlier claim lives";
  claim.reset();
  EXPECT_EQ(at::empty({(1 << 19) + 1}, on_sim(0).dtype(at::kByte)).numel(), (1 << 19) + 1);
}

TEST(DeviceMemoryTest, WithoutGrowthTheMemoryIsTakenAtTheStart) {
  const OtherSimMachine machine(1, {.card = {.memory_bytes = 1 << 20}});
  const at::Tensor in_use = at::empty({1 << 18}, on_sim(0).dtype(at::kByte));
  const auto all = with_memory(machine.devices(), {.growth = false});
  EXPECT_THROW(MemoryClaim{all[0]}, MemoryLimitError);
  const auto half = with_memory(machine.devices(), {.fraction = 0.5, .growth = false});
  const MemoryClaim claim(half[0]);

  auto cpu = cpus(1, std::int64_t{1} << 60);
  EXPECT_THROW(MemoryClaim{with_memory(cpu, {.growth = false})[0]}, DeviceError);
  const MemoryClaim of_cpu(with_memory(cpu, {.limit_bytes = 1, .growth = false})[0]);
}

TEST(DeviceMemoryTest, ACardThatNobodyHasUsedTellsItsMemory) {
  testing::expect_in_fresh_process([] {
    const MemoryUse use = memory_use(testing::first_cards(1)[0]);
    return use.in_use == 0 && use.free == use.total;
  });
}

TEST(DeviceMemoryTest, TheMachineHasMemoryToGive) {
  const MemoryUse use = memory_use(cpus(1, 1 << 30)[0]);
  EXPECT_EQ(use.total, 1 << 30);
  EXPECT_GT(use.free, 0);
  EXPECT_FALSE(use.limit);
}

}  // namespace device_memory_test
}  // namespace pagoda
