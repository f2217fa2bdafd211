#include <pagoda/base/error.h>
#include <pagoda/run/stage_choice.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace stage_choice_test {

TEST(StageChoiceTest, StagesHaveFourMicroBatchesUnlessAnotherNumberIsWanted) {
  StageChoice choice;
  EXPECT_EQ(choice.parts(), 1);
  choice.cut.stages = 2;
  EXPECT_EQ(choice.parts(), kMicroBatches);
  EXPECT_EQ(choice.part_of(64), 16);
  EXPECT_THROW(choice.part_of(63), UsageError);
  choice.micro_batches = 7;
  EXPECT_EQ(choice.part_of(63), 9);
}

TEST(StageChoiceTest, DevicesAreDividedAmongTowersOfAllStages) {
  StageChoice choice;
  EXPECT_EQ(tower_count(choice, 5), 5);
  choice.cut.stages = 3;
  EXPECT_EQ(tower_count(choice, 9), 3);
  EXPECT_THROW(tower_count(choice, 8), UsageError);
}

TEST(StageChoiceTest, OptionsOfStagesAreRefusedWithoutStages) {
  const auto refused = [](auto change) {
    StageChoice choice;
    change(choice);
    EXPECT_THROW(tower_count(choice, 4), UsageError);
    choice.cut.stages = 2;
    EXPECT_EQ(tower_count(choice, 4), 2);
  };
  refused([](StageChoice& choice) { choice.cut.layers_per_stage = {2, 2}; });
  refused([](StageChoice& choice) { choice.pipeline.checkpoint_activations = true; });
  refused([](StageChoice& choice) { choice.cut.output = OutputPlace::every_stage; });
}

}  // namespace stage_choice_test
}  // namespace pagoda
