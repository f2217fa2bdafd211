#include "program/graph_cut.h"

#include <pagoda/base/error.h>
#include <pagoda/program/exported_model.h>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "program/python_reference.h"

namespace pagoda {
namespace graph_cut_test {

using Kind = GraphArgument::Kind;

GraphArgument tensor(const char* name) { return {.kind = Kind::value, .name = name}; }

ProgramNode node(const char* target, std::vector<const char*> inputs, const char* output,
                 const char* module) {
  ProgramNode made{.target = target, .inputs = {}, .outputs = {tensor(output)}, .module = module};
  for (const char* input : inputs) made.inputs.push_back({"", tensor(input)});
  return made;
}

/// a(x, w) in "one", b(a, v) in "two.in", c(b, y) in the model.
Graph three_nodes() {
  return {.inputs = {tensor("w"), tensor("v"), tensor("x"), tensor("y")},
          .outputs = {tensor("c")},
          .nodes = {node("f", {"x", "w"}, "a", "one"), node("g", {"a", "v"}, "b", "two.in"),
                    node("h", {"b", "y"}, "c", "")},
          .tensors = {}};
}

const std::vector<InputSource> kSources = {{InputSource::Kind::state, 0},
                                           {InputSource::Kind::state, 1},
                                           {InputSource::Kind::user, 0},
                                           {InputSource::Kind::user, 1}};

std::vector<std::string> names_of(const std::vector<GraphArgument>& arguments) {
  std::vector<std::string> names;
  for (const GraphArgument& argument : arguments) names.push_back(argument.name);
  return names;
}

TEST(GraphCutTest, APartTakesWhatItAndLaterOnesNeed) {
  const auto parts = cut_graph(three_nodes(), kSources, {"two"});
  ASSERT_EQ(parts.size(), 2);
  EXPECT_EQ(names_of(parts[0].graph.inputs), (std::vector<std::string>{"x", "y", "w"}));
  EXPECT_EQ(names_of(parts[0].graph.outputs), (std::vector<std::string>{"a", "y"}));
  EXPECT_EQ(names_of(parts[1].graph.inputs), (std::vector<std::string>{"a", "y", "v"}));
  EXPECT_EQ(names_of(parts[1].graph.outputs), (std::vector<std::string>{"c"}));
  EXPECT_EQ(parts[1].name, "two");
  EXPECT_EQ(parts[1].sources[2].index, 1);
}

TEST(GraphCutTest, CutsMustFollowEachOtherAndNameModules) {
  EXPECT_THROW(cut_graph(three_nodes(), kSources, {"three"}), UsageError);
  EXPECT_THROW(cut_graph(three_nodes(), kSources, {"tw"}), UsageError);
  EXPECT_THROW(cut_graph(three_nodes(), kSources, {"one"}), UsageError);
  EXPECT_THROW(cut_graph(three_nodes(), kSources, {"two", "one"}), UsageError);
}

TEST(GraphCutTest, LayersOneAfterTheOtherComputeWhatTheProgramComputes) {
  const auto folder = testing::small_models();
  if (folder.empty()) GTEST_SKIP() << "there is no Python with torch";
  const testing::PythonReference reference(folder / "transformer.reference.pt");
  const ProgramOptions options{.cut_before = {"model.encoder.layers.1", "model.output"}};
  for (const bool training : {true, false}) {
    ExportedModel whole(folder / "transformer.plain.pt2", options);
    ExportedModel cut(folder / "transformer.plain.pt2", options);
    whole->train(training);
    cut->train(training);
    const auto inputs = reference.under("7/in");
    Tensors passed = {inputs.at("x"), inputs.at("y")};
    const at::Tensor expected = whole(passed)[0];
    expected.backward();
    const std::vector<Layer> layers = cut->layers();
    ASSERT_EQ(layers.size(), 3);
    for (const Layer& layer : layers) passed = layer.forward(passed);
    passed[0].backward();
    EXPECT_TRUE(at::equal(passed[0], expected));
    for (const auto& item : whole->named_parameters()) {
      EXPECT_TRUE(at::equal(item.value().grad(), cut->named_parameters()[item.key()].grad()))
          << item.key();
    }
  }
}

TEST(GraphCutTest, AParameterOfTwoLayersIsToldByTheirNames) {
  const auto folder = testing::small_models();
  if (folder.empty()) GTEST_SKIP() << "there is no Python with torch";
  ExportedModel model(folder / "odd.pt2", ProgramOptions{.cut_before = {"output"}});
  EXPECT_THROW(model->layers(), UsageError);
}

}  // namespace graph_cut_test
}  // namespace pagoda
