#include "device/device_mask.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/environment.h"

namespace pagoda {
namespace device_mask_test {

using testing::Environment;
using Numbers = std::vector<int>;

struct MaskCase {
  const char* mask;
  Numbers visible;  // of four devices
};

// The first block is text 003 of the seeds, line by line; the second what CUDA does beyond it.
const MaskCase kCases[] = {
    {"1", {1}},            // only device 1 will be seen
    {"0,1", {0, 1}},       // devices 0 and 1 will be visible
    {"\"0,1\"", {0, 1}},   // same as above, quotation marks are optional
    {"0,2,3", {0, 2, 3}},  // devices 0, 2, 3 will be visible; device 1 is masked
    {"", {}},              // none will be visible
    {"\"\"", {}},          // the same with its quotation marks
    {"1,2", {1, 2}},       // as os.environ sets it

    {"'0,1'", {0, 1}},
    {"3,1", {3, 1}},  // the order is that of the mask
    {" 2 , 0 ", {2, 0}},
    {"-1", {}},       // the usual way to hide all
    {"0,-1,2", {0}},  // everything from the first bad entry on is hidden
    {"0,4,1", {0}},   // there is no device 4
    {"0,junk,1", {0}},
    {"junk", {}},
    {"0,,1", {0}},
    {"0,1,", {0, 1}},
    {"1gpu,2ampere", {1, 2}},  // what follows the digits is ignored
    {"+1", {1}},
    {"0,0", {}},  // a device that is named twice hides all
    {"2,1,2", {}},
    {"99999999999999999999", {}},
    {"0x1", {0}},
};

TEST(DeviceMaskTest, EveryMaskGivesItsDevices) {
  for (const auto kind : {DeviceKind::cuda, DeviceKind::sim, DeviceKind::cpu}) {
    for (const auto& [mask, visible] : kCases) {
      EXPECT_EQ(visible_numbers(mask, kind, 4), visible) << kind_name(kind) << " '" << mask << "'";
    }
  }
  EXPECT_EQ(visible_numbers(std::nullopt, DeviceKind::sim, 3), (Numbers{0, 1, 2}));
}

TEST(DeviceMaskTest, UuidsCountButHaveNoNumber) {
  const auto entries = parse_mask("GPU-8932f937,GPU-55f4,MIG-1,0,junk", DeviceKind::cuda);
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 4);
  EXPECT_EQ((*entries)[0].number, -1);
  EXPECT_EQ((*entries)[3].number, 0);
  EXPECT_TRUE(parse_mask("GPU-1,GPU-1", DeviceKind::cuda)->empty());
  EXPECT_EQ(visible_numbers("GPU-1,0", DeviceKind::sim, 4), Numbers{}) << "cards here have none";
}

TEST(DeviceMaskTest, AnEntryMayNameItsKind) {
  EXPECT_EQ(visible_numbers("sim:2,sim:0", DeviceKind::sim, 4), (Numbers{2, 0}));
  EXPECT_EQ(visible_numbers("sim:2,sim:0", DeviceKind::cpu, 2), (Numbers{0, 1})) << "not masked";
  EXPECT_EQ(visible_numbers("sim:1,cpu:0", DeviceKind::cpu, 2), (Numbers{0}));
  EXPECT_EQ(visible_numbers("gpu:1", DeviceKind::sim, 4), Numbers{}) << "an unknown kind is junk";
  EXPECT_EQ(visible_numbers("sim:", DeviceKind::sim, 4), Numbers{});
}

TEST(DeviceMaskTest, TheEnvironmentHasOneMaskForCudaAndOneForTheRest) {
  const Environment cuda(kCudaMask, "1");
  const Environment other(kOtherMask, "0,2");
  EXPECT_EQ(visible_numbers(DeviceKind::cuda, 4), (Numbers{1}));
  EXPECT_EQ(visible_numbers(DeviceKind::sim, 4), (Numbers{0, 2}));
  EXPECT_EQ(visible_numbers(DeviceKind::cpu, 4), (Numbers{0, 2}));
}

}  // namespace device_mask_test
}  // namespace pagoda
