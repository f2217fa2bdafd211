#include "cli/command_line.h"

#include <gtest/gtest.h>

namespace pagoda {
namespace command_line_test {

TEST(CommandLineTest, WordsCanBeTypedAgain) {
  EXPECT_EQ(shell_line({"pagoda", "train", "--lr=1e-3", "--out", "runs/a"}),
            "pagoda train --lr=1e-3 --out runs/a");
  EXPECT_EQ(shell_line({"p", "a b", "*.pt", "it's", ""}), R"(p 'a b' '*.pt' 'it'\''s' '')");
  EXPECT_EQ(shell_line({}), "");
}

TEST(CommandLineTest, OfThisProcessBeginsWithItsProgram) {
  EXPECT_NE(command_line_of_process().find("cli_tests"), std::string::npos);
}

}  // namespace command_line_test
}  // namespace pagoda
