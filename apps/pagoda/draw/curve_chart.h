#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pagoda::app {

struct CurvePoint {
  double x = 0;
  double y = 0;
};

struct Curve {
  std::string name;                ///< for the legend
  std::vector<CurvePoint> points;  ///< in rising order of x
  std::size_t family = 0;          ///< curves of one family have one colour
  bool strong = true;              ///< drawn with more weight than those that are not
};

struct CurveChart {
  std::vector<Curve> curves;
  bool log_scale = false;  ///< of y; points at or below 0 are then left out
};

/// The same with the points that can be drawn alone, y as its logarithm where the scale is one.
CurveChart drawable(CurveChart chart);

/// The part of the plane that a chart shows; y as its logarithm where the scale is one.
struct ChartRange {
  double left = 0, right = 1, low = 0, high = 1;
};

/// What holds all finite points, never without width or height.
ChartRange range_of(const CurveChart& chart);

/// Round numbers from `low` to `high`, at most so many and mostly more than half of that; at least 1.
std::vector<double> round_ticks(double low, double high, int most);

/// At most so many points: where there are more, each is the mean of its neighbours.
std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& points, std::size_t most);

/// The chart as the text of an SVG file, and as the bytes of a PNG file.
std::string curve_chart_svg(const CurveChart& chart);
std::string curve_chart_png(const CurveChart& chart);

}  // namespace pagoda::app
