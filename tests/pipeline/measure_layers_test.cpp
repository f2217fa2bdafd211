#include <pagoda/base/error.h>
#include <pagoda/pipeline/measure_layers.h>

#include <gtest/gtest.h>

#include "support/staged_models.h"

namespace pagoda {
namespace measure_layers_test {

using testing::DeepNoisy;
using testing::kInputs;

TEST(MeasureLayersTest, EveryLayerHasItsNameBytesAndTimes) {
  DeepNoisy model;
  const auto costs = measure_layers(model->layers(), {torch::ones({5, kInputs})}, 3);
  ASSERT_EQ(costs.size(), 3u);
  EXPECT_EQ(costs[0].name, "first");
  EXPECT_EQ(costs[2].name, "last");
  // Linear 4 -> 16 and BatchNorm of 16: weights, biases, statistics, and a counter of 8 bytes.
  EXPECT_EQ(costs[0].parameter_bytes, (4 * 16 + 16 + 4 * 16) * 4 + 8);
  EXPECT_EQ(costs[0].activation_bytes, 2 * 5 * 16 * 4 + 5 * 8);
  EXPECT_EQ(costs[2].activation_bytes, 5 * 3 * 4);
  for (const auto& cost : costs) {
    EXPECT_GT(cost.forward_seconds, 0);
    EXPECT_GT(cost.backward_seconds, 0);
  }
  EXPECT_EQ(layer_seconds(costs)[1], costs[1].forward_seconds + costs[1].backward_seconds);
}

TEST(MeasureLayersTest, LeavesNoGradients) {
  DeepNoisy model;
  measure_layers(model->layers(), {torch::ones({5, kInputs})}, 1);
  for (const auto& parameter : model->parameters()) EXPECT_FALSE(parameter.grad().defined());
}

TEST(MeasureLayersTest, WithoutARoundThereIsNothingToTell) {
  DeepNoisy model;
  EXPECT_THROW(measure_layers(model->layers(), {torch::ones({5, kInputs})}, 0), UsageError);
}

}  // namespace measure_layers_test
}  // namespace pagoda
