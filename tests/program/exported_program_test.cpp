#include <pagoda/base/error.h>
#include <pagoda/program/exported_model.h>

#include <gtest/gtest.h>

#include "program/crafted_program.h"
#include "program/python_reference.h"

namespace pagoda {
namespace exported_program_test {

using testing::ArchiveEntries;
using testing::CraftedProgram;
using testing::graph_node;
using testing::named_argument;
using testing::ScratchDirectory;
using testing::tensor_argument;

std::string refusal_of(const std::filesystem::path& file) {
  try {
    ExportedModel model(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of(const CraftedProgram& program) {
  const ScratchDirectory scratch;
  const std::string text = refusal_of(program.write(scratch));
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  return text;
}

#define EXPECT_REFUSED(program, part) \
  EXPECT_NE(refusal_of(program).find(part), std::string::npos) << refusal_of(program)

TEST(ExportedProgramTest, ACraftedProgramRuns) {
  const ScratchDirectory scratch;
  ExportedModel model(CraftedProgram().write(scratch));
  EXPECT_EQ(model->input_names(), std::vector<std::string>{"x"});
  EXPECT_EQ(model->output_names(), std::vector<std::string>{"linear"});
  const at::Tensor y = model(at::ones({2, 2}))[0];
  EXPECT_TRUE(at::equal(y, at::tensor({3.0f, 7.0f, 11.0f, 3.0f, 7.0f, 11.0f}).view({2, 3})));
  y.sum().backward();
  EXPECT_TRUE(at::equal(model->named_parameters()["head.weight"].grad(), at::full({3, 2}, 2.0f)));
}

TEST(ExportedProgramTest, OtherVersionsAndDecomposedProgramsAreRefused) {
  EXPECT_REFUSED(CraftedProgram{.major = 9}, "version 9 of the format");
  EXPECT_REFUSED(CraftedProgram{.verifier = "ATEN"}, "decomposed (run_decompositions)");
  CraftedProgram mutating;
  mutating.output_specs = R"({"buffer_mutation": {"arg": {"name": "a"}, "buffer_name": "b"}})";
  EXPECT_REFUSED(mutating, "'buffer_mutation', as decomposed programs have");
  CraftedProgram object;
  object.input_specs =
      R"({"custom_obj": {}}, {"user_input": {"arg": {"as_tensor": {"name": "x"}}}})";
  EXPECT_REFUSED(object, "'custom_obj', which only Python can make");
}

TEST(ExportedProgramTest, EverythingThatCannotBeRunIsToldAtOnceWithItsModule) {
  CraftedProgram program;
  const std::string self = named_argument("self", tensor_argument("x"));
  program.nodes += ", " + graph_node("torch.ops.aten.no_such.default", self, "a", "block.0") +
                   ", " + graph_node("torch.ops.aten.no_such.default", self, "b", "block.1") +
                   ", " + graph_node("torch.ops.mylib.thing.default", self, "c", "block.2") + ", " +
                   graph_node("torch.ops.higher_order.scan", "", "", "loop") + ", " +
                   graph_node("torch.ops.aten.from_file.default",
                              named_argument("filename", R"({"as_string": "/tmp/x"})"), "d", "f") +
                   ", " + graph_node("torch.ops.aten.relu.default", "", "e", "g");
  EXPECT_EQ(
      refusal_of(program).substr(refusal_of(program).find("cannot be run")),
      "cannot be run here: aten::no_such is not in this version of LibTorch (module 'block.0', "
      "2 times); mylib::thing belongs to a library that was not loaded (module 'block.2'); "
      "higher_order.scan is no operator of LibTorch (module 'loop'); aten::from_file reaches "
      "files or the terminal, and is never called (module 'f'); aten::relu is called without "
      "'self' (module 'g')");
}

TEST(ExportedProgramTest, NamesThatNoPythonHasStayOnOneLine) {
  CraftedProgram program;
  program.nodes += ", " + graph_node(R"(os\nsystem)", "", "a", R"(m\u001b[2J)");
  EXPECT_REFUSED(program, R"('os\x0asystem' is no operator of LibTorch (module 'm\x1b[2J'))");
  CraftedProgram input;
  input.input_specs.replace(input.input_specs.rfind(R"("x")"), 3, R"("x\ny")");
  EXPECT_REFUSED(input, R"(an input has the name 'x\x0ay')");
}

TEST(ExportedProgramTest, GraphsThatContradictThemselvesAreRefused) {
  CraftedProgram unknown;
  unknown.outputs = tensor_argument("nobody");
  EXPECT_REFUSED(unknown, "the value 'nobody' is used before it is computed");
  CraftedProgram twice;
  twice.nodes += ", " + twice.nodes;
  EXPECT_REFUSED(twice, "two values of a graph have the name 'linear'");
  CraftedProgram other;
  other.inputs = tensor_argument("x");
  EXPECT_REFUSED(other, "its signature does not fit its graph");
}

TEST(ExportedProgramTest, WeightsThatDoNotFitAreRefused) {
  CraftedProgram few;
  few.weight = {1, 2, 3, 4, 5};
  EXPECT_REFUSED(few, "tensor 'head.weight': a tensor of sizes [3, 2]");
  EXPECT_REFUSED(CraftedProgram{.use_pickle = "true"}, "is stored as a pickle");
  CraftedProgram wide;
  wide.weight_meta = testing::tensor_meta(R"({"as_int": 3}, {"as_int": 9223372036854775807})",
                                          R"({"as_int": 2}, {"as_int": 0})");
  EXPECT_REFUSED(wide, "repeats its elements too often");
  CraftedProgram half;
  half.weight_meta = testing::tensor_meta(R"({"as_int": 3}, {"as_int": 2})",
                                          R"({"as_int": 2}, {"as_int": 1})", 77);
  EXPECT_REFUSED(half, "there is no number type 77");
}

TEST(ExportedProgramTest, FilesThatLackRecordsOrAreNoProgramAreRefused) {
  const ScratchDirectory scratch;
  const ArchiveEntries whole = CraftedProgram().entries();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    ArchiveEntries entries = whole;
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    const std::string text = refusal_of(CraftedProgram::write_entries(scratch, entries));
    const bool needless = whole[i].first.ends_with("byteorder") || whole[i].first.ends_with(".pt");
    EXPECT_EQ(text.empty(), needless) << whole[i].first << ": " << text;
  }
  testing::write_file(scratch / "text.pt2", "no archive");
  EXPECT_NE(refusal_of(scratch / "text.pt2").find("text.pt2 is damaged"), std::string::npos);
  EXPECT_NE(refusal_of(scratch / "none.pt2").find("none.pt2"), std::string::npos);
}

TEST(ExportedProgramTest, AFileThatIsCutAnywhereIsRefused) {
  const ScratchDirectory scratch;
  const std::string whole = testing::zip_of(CraftedProgram().entries());
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    testing::write_file(scratch / "cut.pt2", whole.substr(0, size));
    EXPECT_NE(refusal_of(scratch / "cut.pt2").find("cut.pt2"), std::string::npos) << size;
  }
}

TEST(ExportedProgramTest, AFlippedBitOfAWeightIsFound) {
  const ScratchDirectory scratch;
  std::string bytes = testing::zip_of(CraftedProgram().entries());
  const std::string weight("\x00\x00\x80\x3f\x00\x00\x00\x40", 8);
  const std::size_t at = bytes.find(weight);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 3] = '\x3e';
  testing::write_file(scratch / "m.pt2", bytes);
  EXPECT_NE(refusal_of(scratch / "m.pt2").find("checksum"), std::string::npos);
}

TEST(ExportedProgramTest, ProgramsThatPythonWroteAndNobodyCanTrainAreRefused) {
  if (testing::small_models().empty()) GTEST_SKIP() << "there is no Python with torch";
  EXPECT_NE(refusal_of(testing::small_models() / "decomposed.bad.pt2").find("run_decompositions"),
            std::string::npos);
  EXPECT_NE(refusal_of(testing::small_models() / "names.bad.pt2").find("'one', 'two'"),
            std::string::npos);
}

}  // namespace exported_program_test
}  // namespace pagoda
