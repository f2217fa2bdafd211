#include "program/loaded_program.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

#include "program/crafted_program.h"

namespace pagoda {
namespace loaded_program_test {

using testing::CraftedProgram;
using testing::ScratchDirectory;

TEST(LoadedProgramTest, ProblemsAreKeptAndTheRestIsRead) {
  const ScratchDirectory scratch;
  CraftedProgram program;
  program.nodes += ", " + testing::graph_node("torch.ops.aten.no_such.default", "", "a");
  const LoadedProgram loaded = load_program(program.write(scratch), {});
  EXPECT_EQ(loaded.code, nullptr);
  EXPECT_EQ(problems_text(loaded.problems),
            "aten::no_such is not in this version of LibTorch (module 'head')");
  ASSERT_EQ(loaded.state.size(), 1);
  EXPECT_EQ(loaded.state[0].name, "head.weight");
}

TEST(LoadedProgramTest, EqualTensorsAreTiedAndOthersMustNotOverlap) {
  const ScratchDirectory scratch;
  const auto with_second = [&](const std::string& meta) {
    auto entries = CraftedProgram().entries();
    std::string& config = entries[3].second;
    config.insert(config.size() - 2,
                  R"(, "tail.weight": {"path_name": "weight_0", "is_param": true, )"
                  R"("use_pickle": false, "tensor_meta": )" +
                      meta + "}");
    return CraftedProgram::write_entries(scratch, entries);
  };
  const LoadedProgram tied = load_program(with_second(CraftedProgram().weight_meta), {});
  ASSERT_EQ(tied.state.size(), 2);
  EXPECT_EQ(tied.state[1].same_as, 0);
  const std::string transposed =
      testing::tensor_meta(R"({"as_int": 2}, {"as_int": 3})", R"({"as_int": 1}, {"as_int": 2})");
  EXPECT_THROW(load_program(with_second(transposed), {}), DataError);
}

TEST(LoadedProgramTest, BothFormsHaveTheSameConstants) {
  const ScratchDirectory scratch;
  CraftedProgram program;
  program.inputs += ", " + testing::tensor_argument("c");
  program.input_specs +=
      R"(, {"tensor_constant": {"arg": {"name": "c"}, "tensor_constant_name": "offset"}})";
  auto entries = program.entries();
  std::string constants = program.weights_config();
  const std::string name = "head.weight";
  constants.replace(constants.find(name), name.size(), "offset");
  entries[5].second = constants;
  entries.push_back({"m/data/constants/weight_0", entries[4].second});
  const LoadedProgram loaded = load_program(CraftedProgram::write_entries(scratch, entries), {});
  EXPECT_EQ(loaded.constants.size(), 1);
}

}  // namespace loaded_program_test
}  // namespace pagoda
