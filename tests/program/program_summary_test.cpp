#include <pagoda/program/program_summary.h>

#include <gtest/gtest.h>

#include "program/crafted_program.h"

namespace pagoda {
namespace program_summary_test {

using testing::CraftedProgram;
using testing::ScratchDirectory;

TEST(ProgramSummaryTest, SaysWhatGoesInWhatComesOutAndWhatIsCalled) {
  const ScratchDirectory scratch;
  const ProgramSummary summary = describe_program(CraftedProgram().write(scratch));
  ASSERT_EQ(summary.inputs.size(), 1);
  EXPECT_EQ(summary.inputs[0].name, "x");
  EXPECT_EQ(summary.inputs[0].about, "float32 [s17, 2]");
  EXPECT_EQ(summary.outputs[0].name, "linear");
  ASSERT_EQ(summary.tensors.size(), 1);
  EXPECT_EQ(summary.tensors[0].about, "float32 [3, 2]");
  EXPECT_EQ(summary.tensors[0].elements, 6);
  EXPECT_EQ(summary.operators, (std::vector<std::pair<std::string, int>>{{"aten::linear", 1}}));
  EXPECT_TRUE(summary.problems.empty());
  EXPECT_EQ(summary.evaluation, "the same program, with dropout and BatchNorm turned over");
}

TEST(ProgramSummaryTest, AProgramThatCannotBeRunIsDescribedToo) {
  const ScratchDirectory scratch;
  CraftedProgram program;
  program.nodes += ", " + testing::graph_node("torch.ops.mylib.thing.default", "", "a") + ", " +
                   testing::graph_node("torch.ops.mylib.thing.default", "", "b");
  const ProgramSummary summary = describe_program(program.write(scratch));
  EXPECT_EQ(summary.problems,
            std::vector<std::string>{
                "mylib::thing belongs to a library that was not loaded (module 'head', 2 times)"});
  EXPECT_EQ(summary.operators[0], (std::pair<std::string, int>{"mylib::thing", 2}));
}

}  // namespace program_summary_test
}  // namespace pagoda
