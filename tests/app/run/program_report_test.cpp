#include "run/program_report.h"

#include <gtest/gtest.h>

namespace pagoda::app {
namespace program_report_test {

TEST(ProgramReportTest, HasInputsTensorsOperatorsAndProblems) {
  const ProgramSummary summary{
      .torch_version = "2.13.0",
      .inputs = {{"x", "float32 [s17, 3]"}},
      .outputs = {{"loss", "float32 []"}},
      .tensors = {{.name = "a.weight",
                   .about = "float32 [1000, 2]",
                   .elements = 2000,
                   .is_parameter = true,
                   .requires_grad = true},
                  {.name = "b.weight",
                   .about = "float32 [1000, 2]",
                   .is_parameter = true,
                   .requires_grad = true,
                   .tied_to = "a.weight"},
                  {.name = "count", .about = "int64 []", .elements = 1}},
      .operators = {{"aten::linear", 2}, {"mylib::f", 1}},
      .problems = {"mylib::f belongs to a library that was not loaded (module 'm')"},
      .evaluation = "the same program"};
  const std::string text = program_report(summary);
  for (const char* part :
       {"program of torch 2.13.0, 2,000 parameters, 3 calls\n", "input x: float32 [s17, 3]\n",
        "output loss: float32 []\n", "evaluation: the same program\n", "tied to a.weight", "buffer",
        "aten::linear", "cannot be run: mylib::f belongs to"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

}  // namespace program_report_test
}  // namespace pagoda::app
