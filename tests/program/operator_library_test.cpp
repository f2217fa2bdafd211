#include <pagoda/base/error.h>
#include <pagoda/program/exported_model.h>

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "program/crafted_program.h"

namespace pagoda {
namespace operator_library_test {

using testing::CraftedProgram;
using testing::ScratchDirectory;

TEST(OperatorLibraryTest, OperatorsOfALoadedLibraryCanBeCalledAndNoOthers) {
  const std::vector<std::string> loaded = load_operator_library(PAGODA_TEST_OPERATORS);
  EXPECT_EQ(loaded, std::vector<std::string>{"pagoda_test"});
  const ScratchDirectory scratch;
  CraftedProgram program;
  program.nodes +=
      ", " + testing::graph_node("torch.ops.pagoda_test.twice.default",
                                 testing::named_argument("x", testing::tensor_argument("linear")),
                                 "twice");
  program.outputs = testing::tensor_argument("twice");
  const auto file = program.write(scratch);
  ExportedModel model(file, ProgramOptions{.operator_namespaces = loaded});
  EXPECT_EQ(model(at::ones({2, 2}))[0].sum().item<double>(), 84.0);
  EXPECT_THROW(ExportedModel{file}, UsageError);
}

TEST(OperatorLibraryTest, WhatIsNoSuchLibraryIsRefused) {
  const ScratchDirectory scratch;
  testing::write_file(scratch / "text.so", "text");
  EXPECT_THROW(load_operator_library(scratch / "text.so"), UsageError);
  EXPECT_THROW(load_operator_library(scratch / "none.so"), UsageError);
}

}  // namespace operator_library_test
}  // namespace pagoda
