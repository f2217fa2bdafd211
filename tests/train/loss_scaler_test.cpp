#include "train/loss_scaler.h"

#include <pagoda/base/error.h>

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/tower_fixtures.h"
#include "world/ranks.h"

namespace pagoda {
namespace loss_scaler_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(LossScalerTest, BeginsAt65536AndDoublesAfter2000Updates) {
  LossScaler scaler({});
  EXPECT_EQ(scaler.scale(), 65536);
  for (int i = 0; i < 1999; ++i) scaler.note_update(65536);
  EXPECT_EQ(scaler.scale(), 65536);
  scaler.note_update(65536);
  EXPECT_EQ(scaler.scale(), 131072);
  EXPECT_EQ(scaler.state(), (LossScaleState{.scale = 131072, .good_steps = 0, .overflows = 0}));
}

TEST(LossScalerTest, AnOverflowHalvesItAndBeginsCountingAnew) {
  LossScaler scaler({.initial = 8, .growth_steps = 3});
  scaler.note_update(8);
  scaler.note_update(8);
  EXPECT_TRUE(scaler.note_overflow(8));
  EXPECT_EQ(scaler.state(), (LossScaleState{.scale = 4, .good_steps = 0, .overflows = 1}));
  for (int i = 0; i < 3; ++i) scaler.note_update(4);
  EXPECT_EQ(scaler.scale(), 8);
}

TEST(LossScalerTest, StaysWithinItsLimits) {
  LossScaler scaler({.initial = 3, .growth_steps = 1, .factor = 4, .least = 2, .most = 10});
  scaler.note_update(3);
  EXPECT_EQ(scaler.scale(), 10);
  scaler.note_update(10);
  EXPECT_EQ(scaler.scale(), 10);
  EXPECT_TRUE(scaler.note_overflow(10));
  EXPECT_TRUE(scaler.note_overflow(2.5));
  EXPECT_EQ(scaler.scale(), 2);
  EXPECT_FALSE(scaler.note_overflow(2)) << "nothing is left to lower";
  EXPECT_EQ(scaler.state().overflows, 2);
}

TEST(LossScalerTest, TowersThatOverflowWithTheSameScaleLowerItOnce) {
  LossScaler scaler({.initial = 64});
  EXPECT_TRUE(scaler.note_overflow(64));
  EXPECT_TRUE(scaler.note_overflow(64));
  EXPECT_EQ(scaler.scale(), 32);
  scaler.note_update(64);  // of a tower that is behind
  EXPECT_EQ(scaler.state(), (LossScaleState{.scale = 32, .good_steps = 0, .overflows = 2}));
}

TEST(LossScalerTest, GoesOnFromItsState) {
  LossScaler scaler({.growth_steps = 5});
  scaler.load({.scale = 16, .good_steps = 4, .overflows = 7});
  scaler.note_update(16);
  EXPECT_EQ(scaler.state(), (LossScaleState{.scale = 32, .good_steps = 0, .overflows = 7}));
}

TEST(LossScalerTest, ProcessesTakeTheFirstOnes) {
  on_ranks(3, [](World& world) {
    LossScaler scaler({});
    for (int i = 0; i <= world.rank(); ++i) scaler.note_overflow(scaler.scale());
    scaler.note_update(scaler.scale());
    scaler.take_first(world);
    EXPECT_EQ(scaler.state(), (LossScaleState{.scale = 32768, .good_steps = 1, .overflows = 1}));
  });
}

TEST(LossScalerTest, RefusesWhatCannotBe) {
  const std::vector<std::pair<LossScale, std::string>> wrong{
      {{.initial = 0}, "the loss scale is 0"},
      {{.initial = kNan}, "the loss scale is"},
      {{.initial = 4, .most = 2}, "the loss scale is 4"},
      {{.growth_steps = 0}, "after which the loss scale is raised is 0"},
      {{.factor = 1}, "the factor of the loss scale is 1"},
      {{.least = 0}, "the least loss scale is 0"},
      {{.initial = 4, .least = 4, .most = 2}, "the greatest loss scale is 2"}};
  for (const auto& [options, text] : wrong) {
    const std::string message =
        testing::message_of<UsageError>([&o = options] { LossScaler scaler(o); });
    EXPECT_NE(message.find(text), std::string::npos) << message;
  }
}

}  // namespace loss_scaler_test
}  // namespace pagoda
