#include <pagoda/cli/man_page.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace man_page_test {

CommandDescription sample() {
  return {.name = "thing train",
          .about = "Train a-b",
          .arguments =
              {{.names = {"RUN"}, .about = ".hidden\\file", .value = "TEXT", .required = true}},
          .options = {{.names = {"--rate"},
                       .about = "how fast",
                       .group = "Speed",
                       .value = "FLOAT",
                       .default_value = "1e-3"},
                      {.names = {"--how"}, .group = "Way", .value = "TEXT", .words = {"a", "b"}}}};
}

TEST(ManPageTest, HasTheSectionsOfAPage) {
  const std::string page = man_page(sample(), "Thing 1.0");
  for (const char* line :
       {".TH THING\\-TRAIN 1 \"\" \"Thing 1.0\"\n", ".SH NAME\nthing\\-train \\- Train a\\-b\n",
        "\\fBthing train\\fR [\\fIOPTIONS\\fR] \\fIRUN\\fR\n", ".SS Speed\n",
        "\\fB\\-\\-rate\\fR \\fIFLOAT\\fR\nhow fast [1e\\-3]\n", "\\fIa\\fR|\\fIb\\fR",
        ".SH EXIT STATUS\n", "\\fBthing\\fR(1)\n"}) {
    EXPECT_NE(page.find(line), std::string::npos) << line << "in\n" << page;
  }
  EXPECT_EQ(man_file(sample()), "thing-train.1");
}

TEST(ManPageTest, TextIsNotTakenForCommandsOfRoff) {
  const std::string page = man_page(sample(), "");
  EXPECT_NE(page.find("\n\\&.hidden\\efile\n"), std::string::npos) << page;
}

}  // namespace man_page_test
}  // namespace pagoda
