// Stages that compute in 16 bits.

#include <pagoda/pipeline/pipeline_step.h>
#include <pagoda/train/sync_step.h>

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/staged_models.h"
#include "support/training_bits.h"

namespace pagoda {
namespace pipeline_precision_test {

using testing::all_equal;
using testing::all_state;
using testing::BatchInput;
using testing::copies;
using testing::DeepMlp;
using testing::feeds_of;
using testing::Machine;
using testing::StagedMeanSquare;
using testing::vector_feed;

struct FloatInput {
  at::Tensor operator()(const Batch& batch) const { return batch.input.to(at::kFloat); }
};

const StepOptions kClipped{.max_grad_norm = 0.2, .l2 = 0.1};

TEST(PipelinePrecisionTest, TheLossScaleChangesNoBit) {
  for (const OutputPlace output : {OutputPlace::last_stage, OutputPlace::every_stage}) {
    std::vector<std::vector<at::Tensor>> ends;
    for (const Precision precision : {Precision::fp32, Precision::fp16}) {
      auto towers =
          make_staged_towers(testing::cpu_devices(4), testing::make_deep_mlp,
                             {.stages = 2, .output = output}, {.seed = 3, .precision = precision});
      PipelineStep step(towers, Adam{}, kClipped, {.checkpoint_activations = true});
      for (int i = 0; i < 3; ++i)
        step.run(feeds_of(vector_feed, {2, 3, 1, 2, 3}, i), BatchInput(), StagedMeanSquare());
      ends.push_back(all_state(towers, step));
    }
    EXPECT_TRUE(all_equal(ends[0], ends[1]));
  }
}

TEST(PipelinePrecisionTest, TheCutAndComputingAgainChangeNoBit) {
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::sim}) {
      std::vector<std::vector<at::Tensor>> ends;
      const TowerOptions options{
          .seed = 3, .placement = ParameterPlacement::host, .precision = precision};
      for (const auto& [stages, again] :
           {std::pair(1, false), std::pair(2, false), std::pair(2, true), std::pair(3, true)}) {
        auto towers = make_staged_towers(
            Machine(stages, kind).devices(), [] { return DeepMlp(); }, {.stages = stages}, options);
        PipelineStep step(towers, Sgd{.learning_rate = 0.1}, kClipped,
                          {.checkpoint_activations = again});
        for (int i = 0; i < 3; ++i)
          step.run(feeds_of(vector_feed, {2, 3, 1}, i), FloatInput(), StagedMeanSquare());
        ends.push_back(copies(towers.master().trainable));
        EXPECT_TRUE(all_equal(ends.back(), ends.front())) << stages << " stages";
      }
    }
  }
}

TEST(PipelinePrecisionTest, EveryPassOfEveryStageComputesInIt) {
  auto towers = make_staged_towers(Machine(2, DeviceKind::sim).devices(), [] { return DeepMlp(); },
                                   {.stages = 2}, {.precision = Precision::bf16});
  PipelineStep step(towers, Sgd{}, {}, {.checkpoint_activations = true});
  const auto wide = std::make_shared<std::atomic<int>>(0);
  const auto loss = [wide](DeepMlp&, const Tensors& outputs, const Batch& batch) {
    *wide += outputs[0].scalar_type() != at::kBFloat16;
    return torch::mse_loss(outputs[0], batch.target.to(at::kFloat));
  };
  const auto feeds = feeds_of(vector_feed, {2, 3, 1}, 0);
  step.run(feeds, FloatInput(), loss);
  EXPECT_EQ(*wide, 0);
}

TEST(PipelinePrecisionTest, AnOverflowInAMicroBatchLeavesTheStepOut) {
  auto towers = make_staged_towers(testing::cpu_devices(4), [] { return DeepMlp(); }, {.stages = 2},
                                   {.precision = Precision::fp16});
  PipelineStep step(towers, Sgd{});
  const auto before = all_state(towers, step);
  const auto feeds = feeds_of(vector_feed, {2, 3, 1, 2}, 0);
  const StepResult result =
      step.run(feeds, FloatInput(),
               [bad = feeds[3].samples](DeepMlp&, const Tensors& outputs, const Batch& batch) {
                 const at::Tensor loss = outputs[0].square().mean();
                 return batch.samples == bad ? loss + (loss - loss.detach()).sqrt() : loss;
               });
  EXPECT_EQ(result.overflows, 1);
  EXPECT_TRUE(all_equal(all_state(towers, step), before));
  EXPECT_EQ(step.loss_scale().scale, 32768);
}

}  // namespace pipeline_precision_test
}  // namespace pagoda
