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

TEST(HelpFormatTest, HeadingsAreBoldWithColours) {
  CLI::App program("A program: it ends here.", "p");
  int number = 1;
  program.add_option("--number", number, "a number:")->group("Numbers");
  format_help(program, 80, /*colours=*/true);
  EXPECT_NE(program.help().find("\033[1mNumbers:\033[0m\n"), std::string::npos) << program.help();
  const std::string coloured = program.help();
  format_help(program, 80);
  const std::string plain = program.help();
  EXPECT_EQ(plain.find('\033'), std::string::npos);
  EXPECT_EQ(coloured.size() - plain.size(), 2 * std::string("\033[1m\033[0m").size())
      << "Options and Numbers, nothing else";
}

}  // namespace help_format_test
}  // namespace pagoda
