#include "draw/speed_chart.h"

#include <regex>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace speed_chart_test {

/// How often a pattern stands in the text.
std::ptrdiff_t occurrences(const std::string& text, const std::string& pattern) {
  const std::regex wanted(pattern);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), wanted),
                       std::sregex_iterator());
}

TEST(SpeedChartTest, EachPointHasAMarkAnIntervalAndALineToTheOneBefore) {
  for (const int points : {1, 2, 5}) {
    SpeedChart chart{"speed-up of a model", {}};
    for (int i = 1; i <= points; ++i) chart.points.push_back({i, 0.9 * i, 0.8 * i, 1.0 * i});
    const std::string svg = speed_chart_svg(chart);
    EXPECT_EQ(occurrences(svg, "stroke-width=\"8.0\""), points);
    EXPECT_EQ(occurrences(svg, "rgb\\(200,60,40\\)\" stroke-width=\"2.5\""),
              points - 1 + 1);  // and the legend's
    EXPECT_EQ(occurrences(svg, ">speed-up of a model</text>"), 1);
    for (int i = 1; i <= points; ++i)
      EXPECT_EQ(occurrences(svg, ">" + std::to_string(i) + "</text>"), 1) << i;
  }
}

TEST(SpeedChartTest, FasterThanIdealMakesRoomForItself) {
  const std::string svg = speed_chart_svg({"fast", {{1, 1, 1, 1}, {2, 5.5, 5.2, 5.9}}});
  EXPECT_EQ(occurrences(svg, ">6x</text>"), 1);
  EXPECT_EQ(occurrences(svg, "[xy][12]=\"-"), 0) << "nothing lies above the drawing";
}

TEST(SpeedChartTest, SvgAndPngAreFilesOfTheirKinds) {
  const SpeedChart chart{"one", {{1, 1, 1, 1}}};
  EXPECT_TRUE(speed_chart_svg(chart).starts_with("<svg "));
  EXPECT_TRUE(speed_chart_png(chart).starts_with("\x89PNG"));
}

}  // namespace speed_chart_test
}  // namespace pagoda::app
