#include "run/tensor_report.h"

#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda::app {
namespace tensor_report_test {

std::vector<NamedTensor> some_tensors() {
  return {{"layer.weight", torch::ones({30, 50})},
          {"half", torch::ones({7}, torch::kBFloat16)},
          {"odd\nname", torch::ones({}, torch::kLong)}};
}

TEST(TensorReportTest, HasTotalsAndALineForEachTensor) {
  EXPECT_EQ(weights_report({.tensors = some_tensors(), .metadata = {{"format", "pt"}}}),
            "3 tensors, 1,508 numbers, 5.9 KiB\n"
            "format = pt\n"
            "name          type      shape     bytes\n"
            "layer.weight  float32   [30, 50]  6,000\n"
            "half          bfloat16  [7]          14\n"
            "odd?name      int64     []            8\n");
  EXPECT_EQ(weights_report({}), "0 tensors, 0 numbers, 0 B\n");
}

TEST(TensorReportTest, ACheckpointSaysWhereItsRunStandsAndHowItWasConfigured) {
  Checkpoint checkpoint{.model = some_tensors(),
                        .average = {{"layer.weight", torch::ones({30, 50})}},
                        .optimizer = {{"mean/layer.weight", torch::ones({30, 50})}},
                        .state = {.step = 1200,
                                  .position = {.epoch = 2, .consumed = 64},
                                  .samples = 5000,
                                  .best = 0.25,
                                  .best_step = 1000},
                        .seed = 7,
                        .towers = 2,
                        .config = "model = \"net\"\nlr = 0.1\n"};
  const std::string report = checkpoint_report(checkpoint);
  EXPECT_TRUE(report.starts_with(
      "step 1,200, 64 samples into epoch 3, 5,000 samples in all; best 0.25 at step 1,000; "
      "2 towers, seed 7\nmodel: 3 tensors, 1,508 numbers, 5.9 KiB\nname "))
      << report;
  EXPECT_TRUE(
      report.ends_with("moving average: 1 tensor, 1,500 numbers, 5.9 KiB\n"
                       "optimizer: 1 tensor, 1,500 numbers, 5.9 KiB\n"
                       "configuration:\n  model = \"net\"\n  lr = 0.1\n"))
      << report;
}

}  // namespace tensor_report_test
}  // namespace pagoda::app
