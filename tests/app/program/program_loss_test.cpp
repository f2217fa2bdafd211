#include "program/program_loss.h"

#include <pagoda/base/error.h>

#include <cmath>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "program/crafted_program.h"

namespace pagoda::app {
namespace program_loss_test {

using testing::CraftedProgram;
using testing::ScratchDirectory;

NamedBatch batch() {
  return {.tensors = {{"x", at::zeros({2, 2})}, {"y", at::tensor({0, 1}, at::kLong)}}};
}

TEST(ProgramLossTest, PredictionsAreComparedWithTheTarget) {
  const ScratchDirectory scratch;
  const ExportedProgram program(CraftedProgram().write(scratch));
  const ProgramLoss loss(program, PredictionLossOptions{}, "y");
  EXPECT_EQ(loss.names(), (std::vector<std::string>{"x", "y"}));
  ExportedModel model(program);
  const Scored scored = loss(model, batch());
  EXPECT_NEAR(scored.loss.item<double>(), std::log(3.0), 1e-6);
  EXPECT_EQ(scored.metrics[0].first, "accuracy");
  EXPECT_EQ(scored.metrics[0].second.item<double>(), 0.5);
  EXPECT_NO_THROW(loss.check(program, batch()));
}

TEST(ProgramLossTest, AProgramThatReturnsPredictionsHasNoLossOfItsOwn) {
  const ScratchDirectory scratch;
  const ExportedProgram program(CraftedProgram().write(scratch));
  const ProgramLoss loss(program, std::nullopt, "");
  EXPECT_EQ(loss.names(), std::vector<std::string>{"x"});
  ExportedModel model(program);
  EXPECT_THROW(loss(model, batch()), UsageError);
}

TEST(ProgramLossTest, TheFirstOutputIsTheLossAndFurtherNumbersAreMetrics) {
  const ScratchDirectory scratch;
  CraftedProgram program;
  const auto self = testing::named_argument("self", testing::tensor_argument("linear"));
  program.nodes += ", " + testing::graph_node("torch.ops.aten.mean.default", self, "mean") + ", " +
                   testing::graph_node("torch.ops.aten.max.default", self, "largest");
  program.outputs = testing::tensor_argument("mean") + ", " + testing::tensor_argument("linear") +
                    ", " + testing::tensor_argument("largest");
  const ExportedProgram exported(program.write(scratch));
  const ProgramLoss loss(exported, std::nullopt, "");
  ExportedModel model(exported);
  const Scored scored = loss(model, {.tensors = {{"x", at::ones({2, 2})}}});
  EXPECT_EQ(scored.loss.item<double>(), 7.0);
  ASSERT_EQ(scored.metrics.size(), 1);
  EXPECT_EQ(scored.metrics[0].first, "largest");
  EXPECT_EQ(scored.metrics[0].second.item<double>(), 11.0);
}

}  // namespace program_loss_test
}  // namespace pagoda::app
