#include "program/program_archive.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

#include "program/crafted_program.h"

namespace pagoda {
namespace program_archive_test {

using testing::CraftedProgram;
using testing::ScratchDirectory;

TEST(ProgramArchiveTest, HasProgramsAndTheirTensors) {
  const ScratchDirectory scratch;
  const ProgramArchive archive(CraftedProgram().write(scratch));
  EXPECT_EQ(archive.programs(), std::vector<std::string>{"model"});
  EXPECT_EQ(archive.program("model").graph.nodes.size(), 1);
  const auto weights = archive.weights("model");
  ASSERT_EQ(weights.size(), 1);
  EXPECT_TRUE(weights.at("head.weight").is_parameter);
  EXPECT_EQ(weights.at("head.weight").tensor.sum().item<double>(), 21.0);
  EXPECT_TRUE(archive.constants("model").empty());
  EXPECT_THROW(archive.program("other"), DataError);
}

TEST(ProgramArchiveTest, ATensorThatRepeatsItsElementsIsStoredOnce) {
  const ScratchDirectory scratch;
  CraftedProgram program;
  program.weight_meta =
      testing::tensor_meta(R"({"as_int": 3}, {"as_int": 2})", R"({"as_int": 0}, {"as_int": 1})");
  program.weight = {1, 2};
  const auto weights = ProgramArchive(program.write(scratch)).weights("model");
  EXPECT_EQ(weights.at("head.weight").tensor.sum().item<double>(), 9.0);
}

TEST(ProgramArchiveTest, AnotherOrderOfBytesIsRefused) {
  const ScratchDirectory scratch;
  auto entries = CraftedProgram().entries();
  entries[1].second = "big";
  EXPECT_THROW(ProgramArchive(CraftedProgram::write_entries(scratch, entries)), DataError);
}

}  // namespace program_archive_test
}  // namespace pagoda
