#include "program/graph_compiler.h"

#include <pagoda/base/error.h>

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include "program/graph_reader.h"

namespace pagoda {
namespace graph_compiler_test {

using Kind = GraphArgument::Kind;

GraphArgument tensor(const char* name) { return {.kind = Kind::value, .name = name}; }
GraphArgument number(const char* name) {
  return {.kind = Kind::value, .name = name, .is_number = true};
}

std::vector<c10::IValue> run(const Graph& graph, std::vector<c10::IValue> inputs) {
  const OperatorTable operators({});
  GraphCompiler compiler(operators);
  const auto block = compiler.compile(graph);
  EXPECT_TRUE(compiler.problems().empty());
  return block->run(std::move(inputs), at::kCPU);
}

TEST(GraphCompilerTest, SizesListsAndSeveralResultsGoFromNodeToNode) {
  const Graph graph{.inputs = {tensor("x")},
                    .outputs = {tensor("b"), number("half")},
                    .nodes = {{"torch.ops.aten.sym_size.int",
                               {{"self", tensor("x")}, {"dim", {.literal = 0}}},
                               {number("n")},
                               ""},
                              {"_operator.floordiv",
                               {{"a", number("n")}, {"b", {.literal = 2}}},
                               {number("half")},
                               ""},
                              {"torch.ops.aten.split.Tensor",
                               {{"self", tensor("x")}, {"split_size", number("half")}},
                               {{.kind = Kind::list, .items = {tensor("first"), tensor("second")}}},
                               ""},
                              {"torch.ops.aten.sub.Tensor",
                               {{"self", tensor("second")}, {"other", tensor("first")}},
                               {tensor("a")},
                               ""},
                              {"torch.ops.aten.mul.Tensor",
                               {{"self", tensor("a")}, {"other", number("n")}},
                               {tensor("b")},
                               ""}},
                    .tensors = {}};
  const auto outputs = run(graph, {at::arange(6)});
  EXPECT_EQ(outputs[0].toTensor().sum().item<std::int64_t>(), 3 * 3 * 6);
  EXPECT_EQ(outputs[1].toInt(), 3);
}

TEST(GraphCompilerTest, AnErrorOfAnOperatorNamesItsModule) {
  const Graph graph{.inputs = {tensor("x")},
                    .outputs = {tensor("y")},
                    .nodes = {{"torch.ops.aten.mm.default",
                               {{"self", tensor("x")}, {"mat2", tensor("x")}},
                               {tensor("y")},
                               "block.1"}},
                    .tensors = {}};
  try {
    run(graph, {at::ones({2, 3})});
    ADD_FAILURE();
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what_without_backtrace()).find("in aten::mm of module 'block.1'"),
              std::string::npos)
        << error.what_without_backtrace();
  }
}

TEST(GraphCompilerTest, RegionsWithoutGradientsHaveNone) {
  const Graph inner{.inputs = {tensor("u")},
                    .outputs = {tensor("v")},
                    .nodes = {{"torch.ops.aten.mul.Tensor",
                               {{"self", tensor("u")}, {"other", {.literal = 2.0}}},
                               {tensor("v")},
                               ""}},
                    .tensors = {}};
  Graph graph{.inputs = {tensor("x")},
              .outputs = {tensor("y")},
              .nodes = {{"torch.ops.higher_order.wrap_with_set_grad_enabled",
                         {{"", {.literal = false}},
                          {"", {.kind = Kind::graph, .graph = std::make_shared<Graph>(inner)}},
                          {"", tensor("x")}},
                         {tensor("y")},
                         ""}},
              .tensors = {}};
  const at::Tensor x = at::ones({2}).requires_grad_();
  EXPECT_FALSE(run(graph, {x})[0].toTensor().requires_grad());
  graph.nodes[0].inputs[0].value.literal = true;
  EXPECT_TRUE(run(graph, {x})[0].toTensor().requires_grad());
}

TEST(GraphCompilerTest, RegionsWithOtherArgumentsAreAProblem) {
  for (const char* target : {"torch.ops.higher_order.wrap_with_set_grad_enabled",
                             "torch.ops.higher_order.wrap_with_autocast",
                             "torch.ops.higher_order.cond", "_operator.mul"}) {
    const Graph graph{.inputs = {tensor("x")},
                      .outputs = {tensor("x")},
                      .nodes = {{target, {{"", tensor("x")}}, {}, "here"}},
                      .tensors = {}};
    const OperatorTable operators({});
    GraphCompiler compiler(operators);
    EXPECT_EQ(compiler.compile(graph), nullptr) << target;
    ASSERT_EQ(compiler.problems().size(), 1) << target;
    EXPECT_EQ(compiler.problems()[0].module, "here");
  }
}

}  // namespace graph_compiler_test
}  // namespace pagoda
