#include "cli/help_format.h"

#include <sstream>

#include <gtest/gtest.h>

namespace pagoda {
namespace help_format_test {

TEST(HelpFormatTest, LinesAreBrokenAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 6), "one\ntwo\nthree");
  EXPECT_EQ(wrapped("one two three", 100), "one two three");
  EXPECT_EQ(wrapped("immeasurable is long", 4), "immeasurable\nis\nlong");
  EXPECT_EQ(wrapped("", 4), "");
}

TEST(HelpFormatTest, DescriptionsStayInTheirColumnOfCommandsToo) {
  CLI::App program("A program with a description that is longer than sixty columns are.", "p");
  CLI::App* inner =
      program.add_subcommand("inner", "what it is for, in more words than fit a line");
  int number = 1;
  inner->add_option("--number", number,
                    "a description that is so long that it takes more than one line of sixty");
  for (const std::size_t columns : {60u, 72u, 100u}) {
    format_help(program, columns);
    for (const std::string& help : {program.help(), inner->help()}) {
      std::istringstream lines(help);
      for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << line;
    }
  }
  format_help(program, 0);
  EXPECT_NE(inner->help().find("so long that it takes more than one line of sixty"),
            std::string::npos);
}

}  // namespace help_format_test
}  // namespace pagoda
