#include "draw/curve_chart.h"

#include <cmath>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace curve_chart_test {

CurveChart sample() {
  Curve loss{.name = "training loss", .points = {}, .strong = false};
  for (int step = 1; step <= 1000; ++step)
    loss.points.push_back({static_cast<double>(step), 2.0 / step});
  return {.curves = {loss, {.name = "validation <loss>", .points = {{500, 1}, {1000, 0.5}}}}};
}

TEST(CurveChartTest, TicksAreRoundAndFew) {
  EXPECT_EQ(round_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(round_ticks(0.1, 0.9, 4), (std::vector<double>{0.2, 0.4, 0.6000000000000001, 0.8}));
  for (const double high : {1e-6, 0.3, 1.0, 7.0, 12345.0}) {
    for (const int most : {2, 5, 8}) {
      const auto ticks = round_ticks(0, high, most);
      EXPECT_LE(ticks.size(), static_cast<std::size_t>(most) + 1) << high;
      EXPECT_GE(2 * ticks.size(), static_cast<std::size_t>(most)) << high;
      EXPECT_LE(ticks.back(), high * (1 + 1e-9));
    }
  }
}

TEST(CurveChartTest, NumbersThatHardlyDifferOrAreHugeHaveTicksToo) {
  const double one = 0.9995;
  for (const auto& [first, second] :
       std::vector<std::pair<CurvePoint, CurvePoint>>{{{1, one}, {2, std::nextafter(one, 1)}},
                                                      {{9e18, 1}, {9e18 + 2048, 2}},
                                                      {{1, 1e18}, {2, 1e18}},
                                                      {{1, -1e299}, {2, 1e299}},
                                                      {{1, -1.7e308}, {2, 1.7e308}}}) {
    const CurveChart chart{.curves = {{.name = "", .points = {first, second}}}};
    const ChartRange range = range_of(chart);
    ASSERT_LT(range.left, range.right);
    ASSERT_LT(range.low, range.high);
    for (const auto& ticks :
         {round_ticks(range.left, range.right, 8), round_ticks(range.low, range.high, 5)}) {
      EXPECT_LE(ticks.size(), 9u);
      for (const double tick : ticks) EXPECT_TRUE(std::isfinite(tick));
    }
  }
  // Even where no number lies between the two.
  EXPECT_LE(round_ticks(one, std::nextafter(one, 1), 5).size(), 6u);
}

TEST(CurveChartTest, TheRangeHoldsAllPoints) {
  const ChartRange range = range_of(sample());
  EXPECT_EQ(range.left, 1);
  EXPECT_EQ(range.right, 1000);
  EXPECT_LT(range.low, 0.002);
  EXPECT_GT(range.high, 2);
  for (const CurveChart& chart :
       {CurveChart{}, CurveChart{.curves = {{.name = "", .points = {{3, 4}}}}},
        CurveChart{.curves = {{.name = "", .points = {{3, std::nan("")}}}}}}) {
    const ChartRange small = range_of(chart);
    EXPECT_LT(small.left, small.right);
    EXPECT_LT(small.low, small.high);
  }
}

TEST(CurveChartTest, ALogarithmicScaleLeavesOutWhatHasNone) {
  const CurveChart chart{.curves = {{.name = "", .points = {{1, 100}, {2, 0}, {3, -1}, {4, 0.01}}}},
                         .log_scale = true};
  const auto points = drawable(chart).curves[0].points;
  ASSERT_EQ(points.size(), 2);
  EXPECT_NEAR(points[0].y, 2, 1e-12);
  EXPECT_NEAR(points[1].y, -2, 1e-12);
}

TEST(CurveChartTest, ThinningKeepsTheMean) {
  std::vector<CurvePoint> points;
  for (int i = 0; i < 101; ++i) points.push_back({static_cast<double>(i), i % 2 == 0 ? 1.0 : 3.0});
  const auto few = thinned(points, 10);
  ASSERT_EQ(few.size(), 10);
  for (const CurvePoint& point : few) EXPECT_NEAR(point.y, 2, 0.2);
  EXPECT_EQ(thinned(points, 101).size(), 101);
}

TEST(CurveChartTest, PicturesHaveTheNamesOfTheCurves) {
  const std::string svg = curve_chart_svg(sample());
  EXPECT_NE(svg.find("training loss"), std::string::npos);
  EXPECT_NE(svg.find("validation &lt;loss"), std::string::npos);
  EXPECT_LT(svg.size(), 200'000) << "a thousand points are thinned";
  EXPECT_TRUE(curve_chart_png(sample()).starts_with("\x89PNG"));
}

}  // namespace curve_chart_test
}  // namespace pagoda::app
