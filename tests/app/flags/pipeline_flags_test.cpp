#include "flags/pipeline_flags.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace pipeline_flags_test {

TEST(PipelineFlagsTest, StagesHaveFourMicroBatchesUnlessAnotherNumberIsWanted) {
  PipelineFlags flags;
  EXPECT_EQ(flags.parts(), 1);
  flags.stages = 2;
  EXPECT_EQ(flags.parts(), kMicroBatches);
  EXPECT_EQ(flags.part_of(64), 16);
  EXPECT_THROW(flags.part_of(63), UsageError);
  flags.micro_batches = 7;
  EXPECT_EQ(flags.part_of(63), 9);
}

TEST(PipelineFlagsTest, DevicesAreDividedAmongTowersOfAllStages) {
  PipelineFlags flags;
  EXPECT_EQ(tower_count(flags, 5), 5);
  flags.stages = 3;
  EXPECT_EQ(tower_count(flags, 9), 3);
  EXPECT_THROW(tower_count(flags, 8), UsageError);
}

TEST(PipelineFlagsTest, OptionsOfStagesAreRefusedWithoutStages) {
  const auto refused = [](const std::string& option, auto change) {
    PipelineFlags flags;
    change(flags);
    try {
      tower_count(flags, 4);
    } catch (const UsageError& error) {
      return std::string(error.what()).find(option) == 0;
    }
    return false;
  };
  EXPECT_TRUE(refused("--stage-layers", [](PipelineFlags& f) { f.stage_layers = "2,2"; }));
  EXPECT_TRUE(refused("--checkpoint-activations",
                      [](PipelineFlags& f) { f.checkpoint_activations = true; }));
  EXPECT_TRUE(refused("--output-layer", [](PipelineFlags& f) { f.output_layer = "every-stage"; }));
}

TEST(PipelineFlagsTest, StageLayersAreAListOfNumbers) {
  PipelineFlags flags;
  flags.stages = 3;
  EXPECT_TRUE(stage_options(flags).layers_per_stage.empty());
  flags.stage_layers = "2,10,1";
  EXPECT_EQ(stage_options(flags).layers_per_stage, (std::vector<int>{2, 10, 1}));
  flags.stage_layers = "2,";
  EXPECT_THROW(stage_options(flags), UsageError);
}

TEST(PipelineFlagsTest, ScheduleAndOutputLayerReachTheOptions) {
  PipelineFlags flags;
  EXPECT_EQ(pipeline_options(flags).schedule, PipelineSchedule::one_forward_one_backward);
  flags.schedule = "gpipe";
  flags.output_layer = "every-stage";
  EXPECT_EQ(pipeline_options(flags).schedule, PipelineSchedule::gpipe);
  EXPECT_EQ(stage_options(flags).output, OutputPlace::every_stage);
}

}  // namespace pipeline_flags_test
}  // namespace pagoda::app
