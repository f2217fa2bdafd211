#include "device/device_text.h"

#include <pagoda/base/error.h>

#include <string>

#include <gtest/gtest.h>

namespace pagoda {
namespace device_text_test {

std::string parsed(std::string_view text) {
  std::string all;
  for (const auto& device : parse_device_list(text)) {
    all += std::string(kind_name(device.kind)) + std::to_string(device.index) + " ";
  }
  return all;
}

TEST(DeviceTextTest, ListsAndRanges) {
  EXPECT_EQ(parsed("cuda:0,1"), "cuda0 cuda1 ");
  EXPECT_EQ(parsed("sim:0-3"), "sim0 sim1 sim2 sim3 ");
  EXPECT_EQ(parsed("sim:1-1"), "sim1 ");
  EXPECT_EQ(parsed("sim:2,cpu:0,1-2"), "sim2 cpu0 cpu1 cpu2 ");
}

TEST(DeviceTextTest, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"", ",", "sim", "gpu:0", "sim:", "sim:x", "sim:-1", "sim:3-1", "sim:0-", "sim:0-99999",
        "0,1", "sim:0,,1", "sim:0;1", " sim:0", "SIM:0", "sim:1.5", "sim:99999999999999999999"}) {
    EXPECT_THROW(parse_device_list(text), UsageError) << text;
  }
  for (const char* twice : {"sim:0,sim:0", "sim:0-2,1", "cpu:1,0,1"}) {
    EXPECT_THROW(parse_device_list(twice), UsageError) << twice;
  }
}

TEST(DeviceTextTest, AListHasAnEnd) {
  EXPECT_EQ(parse_device_list("sim:0-1023,1024-2047,2048-3071,cpu:0-1023").size(), 4096u);
  EXPECT_THROW(parse_device_list("sim:0-1023,1024-2047,2048-3071,cpu:0-1023,1024"), UsageError);
}

TEST(DeviceTextTest, OneNumberBehindSimIsHowMany) {
  EXPECT_EQ(parse_sim_count("sim:4"), 4);
  for (const char* text : {"sim:0", "sim", "sim:0,1", "sim:0-3", "cpu:4", "4", "sim:-1"}) {
    EXPECT_FALSE(parse_sim_count(text)) << text;
  }
}

}  // namespace device_text_test
}  // namespace pagoda
