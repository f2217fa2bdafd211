#include <pagoda/device/device.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace device_test {

Device device(DeviceKind kind, int index) {
  Device device;
  device.kind = kind;
  device.index = index;
  return device;
}

TEST(DeviceTest, LabelIsKindAndNumber) {
  EXPECT_EQ(device(DeviceKind::cpu, 1).label(), "cpu:1");
  EXPECT_EQ(device(DeviceKind::cuda, 0).label(), "cuda:0");
  EXPECT_EQ(device(DeviceKind::sim, 2).label(), "sim:2");
  EXPECT_STREQ(kind_name(DeviceKind::cpu), "cpu");
  EXPECT_STREQ(kind_name(DeviceKind::cuda), "cuda");
}

TEST(DeviceTest, CpuDevicesShareOneMemoryAndCardsHaveTheirOwn) {
  EXPECT_EQ(device(DeviceKind::cpu, 3).torch_device(), c10::Device("cpu"));
  EXPECT_EQ(device(DeviceKind::cuda, 2).torch_device(), c10::Device("cuda:2"));
  EXPECT_EQ(device(DeviceKind::sim, 1).torch_device(), c10::Device(c10::kPrivateUse1, 1));
  const Device cpu = device(DeviceKind::cpu, 0);
  EXPECT_TRUE(share_memory({cpu, device(DeviceKind::cpu, 1)}));
  EXPECT_FALSE(share_memory({cpu, device(DeviceKind::sim, 0)}));
}

}  // namespace device_test
}  // namespace pagoda
