#include "draw/terminal_chart.h"

#include <pagoda/terminal/text_table.h>

#include <sstream>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace terminal_chart_test {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

CurveChart diagonal() { return {.curves = {{.name = "up", .points = {{0, 0}, {100, 10}}}}}; }

TEST(TerminalChartTest, IsAsWideAndHighAsItMayBe) {
  for (const int columns : {30, 80, 133}) {
    const auto lines = lines_of(terminal_chart(diagonal(), {.columns = columns, .rows = 7}));
    ASSERT_EQ(lines.size(), 7 + 2 + 1) << "plot, axis and its numbers, legend";
    for (const auto& line : lines) EXPECT_LT(shown_width(line), columns);
    EXPECT_EQ(shown_width(lines[7]), columns - 1) << "the axis goes to the last column but one";
  }
}

TEST(TerminalChartTest, CurvesGoFromLowerLeftToTheirLetterAtTheEnd) {
  const auto lines = lines_of(terminal_chart(diagonal(), {.columns = 40, .rows = 6}));
  EXPECT_TRUE(lines[0].ends_with("a")) << lines[0];
  EXPECT_NE(lines[5].find("\xE2"), std::string::npos) << "dots in the last row";
  EXPECT_NE(lines.back().find("a up"), std::string::npos);
  EXPECT_NE(lines[7].find("step 100"), std::string::npos) << lines[7];
}

TEST(TerminalChartTest, ColoursAreThereOnDemandOnly) {
  EXPECT_EQ(terminal_chart(diagonal(), {}).find('\033'), std::string::npos);
  EXPECT_NE(terminal_chart(diagonal(), {.colours = true}).find("\033[38;5;"), std::string::npos);
}

TEST(TerminalChartTest, OddCurvesAreDrawn) {
  for (const CurveChart& chart :
       {CurveChart{}, CurveChart{.curves = {{.name = "none", .points = {}}}},
        CurveChart{.curves = {{.name = "point", .points = {{5, 5}}}}}})
    EXPECT_FALSE(terminal_chart(chart, {.columns = 1, .rows = 4}).empty());
}

}  // namespace terminal_chart_test
}  // namespace pagoda::app
