#include "program/graph_reader.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

#include "program/crafted_program.h"

namespace pagoda {
namespace graph_reader_test {

using testing::CraftedProgram;

GraphProgram read(const CraftedProgram& program) {
  return read_program(parse_json(program.json(), "test"));
}

TEST(GraphReaderTest, ReadsNodesWithTheirModulesInputsAndRanges) {
  const GraphProgram program = read({});
  ASSERT_EQ(program.graph.nodes.size(), 1);
  EXPECT_EQ(program.graph.nodes[0].target, "torch.ops.aten.linear.default");
  EXPECT_EQ(program.graph.nodes[0].module, "head");
  ASSERT_EQ(program.inputs.size(), 2);
  EXPECT_EQ(program.inputs[0].kind, InputSpec::Kind::parameter);
  EXPECT_EQ(program.inputs[0].target, "head.weight");
  EXPECT_EQ(program.inputs[1].kind, InputSpec::Kind::user);
  EXPECT_EQ(program.symbols.at("s17").least, 2);
  EXPECT_EQ(program.symbols.at("s17").most, 5);
  EXPECT_EQ(program.graph.tensors.at("x").sizes[1].number, 2);
  EXPECT_EQ(program.output_names, std::vector<std::string>{"linear"});
}

TEST(GraphReaderTest, WhatIsMissingIsTold) {
  const std::string whole = CraftedProgram().json();
  for (const char* name : {"graph_module", "schema_version", "verifiers", "range_constraints",
                           "signature", "nodes", "tensor_values", "input_specs", "target"}) {
    std::string text = whole;
    const std::string quoted = "\"" + std::string(name) + "\"";
    text.replace(text.find(quoted), quoted.size(), "\"other\"");
    try {
      read_program(parse_json(text, "test"));
      ADD_FAILURE() << name;
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
}

TEST(GraphReaderTest, ANodeMayBeOfNoModule) {
  CraftedProgram program;
  program.nodes = testing::graph_node("torch.ops.aten.relu.default", "", "a",
                                      "_empty_nn_module_stack_from_metadata_hook");
  EXPECT_EQ(read(program).graph.nodes[0].module, "");
}

}  // namespace graph_reader_test
}  // namespace pagoda
