#include <pagoda/base/error.h>
#include <pagoda/device/device_list.h>
#include <pagoda/device/sim_devices.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device/device_mask.h"
#include "support/environment.h"
#include "support/sim_machine.h"

namespace pagoda {
namespace sim_devices_test {

using testing::Environment;
using testing::kSimCards;
using testing::OtherSimMachine;

std::string shown(const std::vector<Device>& devices) {
  std::string all;
  for (const auto& device : devices)
    all += device.label() + "=" + std::to_string(device.original) + " ";
  return all;
}

TEST(SimDevicesTest, AreDevicesOfLibTorchWithMemoryOfTheirOwn) {
  const OtherSimMachine machine(
      2, {.card = {.memory_bytes = 1000}, .single_cards = {{1, {.memory_bytes = 2000}}}});
  ASSERT_EQ(machine.devices().size(), 2);
  EXPECT_EQ(machine.devices()[1].torch_device().str(), "sim:1");
  EXPECT_EQ(machine.devices()[0].memory_bytes, 1000);
  EXPECT_EQ(machine.devices()[1].memory_bytes, 2000);
  EXPECT_EQ(shown(sim_devices()), "sim:0=0 sim:1=1 ");
}

TEST(SimDevicesTest, NumbersAndOptionsOutOfRangeAreRefused) {
  for (const int count : {-1, 0, kMostSimCards + 1}) {
    EXPECT_THROW(simulate_devices(count), UsageError) << count;
  }
  EXPECT_THROW(simulate_devices(2, {.single_cards = {{2, {}}}}), UsageError);
  EXPECT_THROW(simulate_devices(2, {.missing_kernels = {"cumsum"}}), UsageError);
  EXPECT_EQ(sim_devices().size(), kSimCards);
}

TEST(SimDevicesTest, AMaskHidesAndRenumbersThem) {
  {
    const Environment mask(kOtherMask, "0,2,3");
    const auto cards = simulate_devices(4, {.single_cards = {{2, {.memory_bytes = 5000}}}});
    EXPECT_EQ(shown(cards), "sim:0=0 sim:1=2 sim:2=3 ");
    EXPECT_EQ(cards[1].memory_bytes, 5000) << "card 2 is card 1 now";
    EXPECT_EQ(cards[1].torch_device().index(), 1);
    EXPECT_EQ(shown(select_devices("sim:4")), shown(cards));
    EXPECT_THROW(select_devices("sim:3,sim:1"), UsageError);
  }
  simulate_devices(kSimCards);
}

TEST(SimDevicesTest, AMaskThatHidesAllIsAnError) {
  const Environment mask(kOtherMask, "");
  EXPECT_THROW(simulate_devices(4), UsageError);
}

TEST(SimDevicesTest, AreSelectedByText) {
  EXPECT_EQ(shown(select_devices("sim:2")), "sim:0=0 sim:1=1 ");
  EXPECT_EQ(shown(select_devices("sim:0,sim:2")), "sim:0=0 sim:2=2 ");
  EXPECT_EQ(shown(select_devices("sim:1-3")), "sim:1=1 sim:2=2 sim:3=3 ");
  EXPECT_EQ(shown(select_devices("sim:3,cpu:0")), "sim:3=3 cpu:0=0 ");
  EXPECT_EQ(select_devices("sim").size(), kSimCards);
  EXPECT_THROW(select_devices("sim:5"), UsageError);
  EXPECT_THROW(select_devices("sim:0,sim:4"), UsageError);
}

TEST(SimDevicesTest, TheListHasCardsFirst) {
  const auto devices = list_devices();
  ASSERT_GT(devices.size(), static_cast<std::size_t>(kSimCards));
  EXPECT_EQ(devices.back().kind, DeviceKind::cpu);
}

TEST(SimDevicesTest, AMaskHidesCpuDevicesToo) {
  const Environment mask(kOtherMask, "cpu:0");
  EXPECT_EQ(shown(select_devices("cpu")), "cpu:0=0 ");
  EXPECT_EQ(shown(select_devices("cpu:0")), "cpu:0=0 ");
  EXPECT_THROW(select_devices("cpu:1"), UsageError) << "as many as wanted only without a mask";
  const Environment none(kOtherMask, "cpu:-1");
  EXPECT_THROW(select_devices("cpu"), UsageError);
}

}  // namespace sim_devices_test
}  // namespace pagoda
