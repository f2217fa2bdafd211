#include "run/run_announcements.h"

#include <gtest/gtest.h>

#include "support/tower_fixtures.h"

namespace pagoda {
namespace run_announcements_test {

TEST(RunAnnouncementsTest, TheStartNamesDevicesAndTheCommand) {
  const std::vector<Device> devices = testing::cpu_devices(2);
  const std::string line = start_line(devices, "pagoda train lenet5");
  EXPECT_NE(line.find(devices[0].label() + ", " + devices[1].label() + ": pagoda train lenet5"),
            std::string::npos)
      << line;
  EXPECT_TRUE(start_line(devices, "").ends_with(devices[1].label()))
      << "no colon without a command";
}

TEST(RunAnnouncementsTest, AResumedRunSaysWhereItGoesOn) {
  EXPECT_EQ(resumed_line({.step = 40, .position = {.epoch = 2, .consumed = 1}}),
            "resumed after step 40, 1 sample into epoch 3");
}

TEST(RunAnnouncementsTest, TrafficIsThatOfTheRunAlone) {
  const std::string line =
      traffic_line({.bytes = 1000, .seconds = 3}, {.bytes = 3000, .seconds = 5}, 8);
  EXPECT_NE(line.find("2.0 s waited (25.0 %)"), std::string::npos) << line;
  EXPECT_NE(traffic_line({}, {.bytes = 1, .seconds = 0}, 0).find("(0.0 %)"), std::string::npos)
      << "a run without a step";
}

TEST(RunAnnouncementsTest, AnUnfinishedRunSaysHowItIsResumed) {
  const std::filesystem::path directory = "runs/a";
  EXPECT_EQ(unfinished_line("stopped after step 4", &directory, "pagoda train lenet5"),
            "stopped after step 4, saved in runs/a; resume with: pagoda train lenet5");
  EXPECT_EQ(unfinished_line("stopped after step 4", &directory, ""),
            "stopped after step 4, saved in runs/a; the same program resumes it");
  EXPECT_EQ(unfinished_line("stopped after step 4", nullptr, "pagoda train lenet5"),
            "stopped after step 4; the run has no directory: nothing is saved");
}

}  // namespace run_announcements_test
}  // namespace pagoda
