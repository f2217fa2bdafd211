#include <pagoda/train/module_graph.h>

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace module_graph_test {

struct InnerImpl : torch::nn::Module {
  InnerImpl() {
    register_module("linear", torch::nn::Linear(3, 2));
    register_module("norm", torch::nn::BatchNorm1d(2));
  }
};
TORCH_MODULE(Inner);

struct OuterImpl : torch::nn::Module {
  OuterImpl() {
    register_module("inner", Inner());
    register_parameter("scale", torch::ones({5}));
  }
};

TEST(ModuleGraphTest, HasALevelForEachModuleAndABoxForEachTensor) {
  std::map<std::string, GraphNode> nodes;
  for (const auto& node : module_graph(OuterImpl())) {
    EXPECT_TRUE(nodes.emplace(node.name, node).second) << node.name << " comes twice";
  }
  EXPECT_EQ(nodes.at("(Outer)").inputs, std::vector<std::string>{"scale"});
  EXPECT_FALSE(nodes.contains("inner/(Inner)")) << "it is nothing but a level";
  const GraphNode& linear = nodes.at("inner/linear/(Linear)");
  EXPECT_EQ(linear.op, "Linear");
  EXPECT_EQ(linear.inputs, (std::vector<std::string>{"inner/linear/weight", "inner/linear/bias"}));
  const GraphNode& weight = nodes.at("inner/linear/weight");
  EXPECT_EQ(weight.op, "Parameter");
  EXPECT_EQ(weight.attributes, (std::vector<std::pair<std::string, std::string>>{
                                   {"shape", "[2, 3]"}, {"type", "float"}}));
  EXPECT_EQ(nodes.at("inner/norm/running_mean").op, "Buffer");
}

TEST(ModuleGraphTest, ReadsOnlyBoxesThatExist) {
  std::set<std::string> names;
  const auto nodes = module_graph(OuterImpl());
  for (const auto& node : nodes) names.insert(node.name);
  for (const auto& node : nodes) {
    for (const auto& input : node.inputs) EXPECT_TRUE(names.contains(input)) << input;
  }
}

}  // namespace module_graph_test
}  // namespace pagoda
