#include "program/evaluation_form.h"

#include <gtest/gtest.h>

namespace pagoda {
namespace evaluation_form_test {

using Kind = GraphArgument::Kind;

GraphArgument tensor(const char* name) { return {.kind = Kind::value, .name = name}; }

/// A program with the input x and the buffer count.
EvaluationForm evaluated(std::vector<ProgramNode> nodes, const char* output) {
  GraphProgram program{
      .graph = {.inputs = {tensor("b_count"), tensor("x")},
                .outputs = {tensor(output)},
                .nodes = std::move(nodes),
                .tensors = {}},
      .inputs = {{.kind = InputSpec::Kind::buffer, .name = "b_count", .target = "count"},
                 {.kind = InputSpec::Kind::user, .name = "x"}},
      .output_names = {},
      .symbols = {},
      .torch_version = ""};
  return evaluation_form(program, OperatorTable({}));
}

ProgramNode dropout() {
  return {"torch.ops.aten.dropout.default",
          {{"input", tensor("x")}, {"p", {.literal = 0.5}}, {"train", {.literal = true}}},
          {tensor("y")},
          ""};
}

ProgramNode counting() {
  return {"torch.ops.aten.add_.Tensor",
          {{"self", tensor("b_count")}, {"other", {.literal = 1}}},
          {tensor("counted")},
          "norm"};
}

TEST(EvaluationFormTest, FlagsAreTurnedAndCountsLeftOut) {
  const EvaluationForm form = evaluated({dropout(), counting()}, "y");
  EXPECT_TRUE(form.problems.empty());
  ASSERT_EQ(form.graph.nodes.size(), 1);
  EXPECT_FALSE(form.graph.nodes[0].inputs[2].value.literal.toBool());
}

TEST(EvaluationFormTest, BatchNormWithoutStatisticsStaysAsItIs) {
  const ProgramNode norm{
      "torch.ops.aten.batch_norm.default",
      {{"input", tensor("x")}, {"running_mean", {}}, {"training", {.literal = true}}},
      {tensor("y")},
      ""};
  EXPECT_TRUE(evaluated({norm}, "y").graph.nodes[0].inputs[2].value.literal.toBool());
}

TEST(EvaluationFormTest, ABufferThatIsChangedAndReadIsAProblem) {
  const ProgramNode reading{"torch.ops.aten.mul.Tensor",
                            {{"self", tensor("x")}, {"other", tensor("b_count")}},
                            {tensor("y")},
                            ""};
  const EvaluationForm form = evaluated({counting(), reading}, "y");
  ASSERT_EQ(form.problems.size(), 1);
  EXPECT_EQ(form.problems[0].what,
            "aten::add_.Tensor changes the buffer 'count', with which the model computes");
  EXPECT_EQ(form.problems[0].module, "norm");
  EXPECT_EQ(evaluated({counting()}, "counted").problems.size(), 1);
}

TEST(EvaluationFormTest, RandomNumbersWithoutAFlagAreAProblem) {
  const ProgramNode drawing{
      "torch.ops.aten.bernoulli.default", {{"self", tensor("x")}}, {tensor("y")}, "path"};
  const EvaluationForm form = evaluated({drawing}, "y");
  ASSERT_EQ(form.problems.size(), 1);
  EXPECT_EQ(form.problems[0].what, "aten::bernoulli draws random numbers");
}

TEST(EvaluationFormTest, AttentionWithoutDropoutIsNoProblem) {
  const ProgramNode attention{
      "torch.ops.aten.scaled_dot_product_attention.default",
      {{"query", tensor("x")}, {"key", tensor("x")}, {"value", tensor("x")}},
      {tensor("y")},
      ""};
  EXPECT_TRUE(evaluated({attention}, "y").problems.empty());
}

TEST(EvaluationFormTest, PartsOfTheProgramAreTurnedToo) {
  auto inner = std::make_shared<Graph>(Graph{.inputs = {tensor("b_count"), tensor("x")},
                                             .outputs = {tensor("y")},
                                             .nodes = {dropout(), counting()},
                                             .tensors = {}});
  const ProgramNode region{"torch.ops.higher_order.wrap_with_set_grad_enabled",
                           {{"", {.literal = false}},
                            {"", {.kind = Kind::graph, .graph = inner}},
                            {"", tensor("b_count")},
                            {"", tensor("x")}},
                           {tensor("z")},
                           ""};
  const EvaluationForm form = evaluated({region}, "z");
  EXPECT_TRUE(form.problems.empty());
  const Graph& turned = *form.graph.nodes[0].inputs[1].value.graph;
  ASSERT_EQ(turned.nodes.size(), 1);
  EXPECT_FALSE(turned.nodes[0].inputs[2].value.literal.toBool());
}

}  // namespace evaluation_form_test
}  // namespace pagoda
