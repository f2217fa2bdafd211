#pragma once

#include <string>
#include <vector>

namespace pagoda::app {

/// How much faster so many devices are than one.
struct SpeedPoint {
  int devices = 1;
  double speed_up = 1;
  double low = 1;  ///< confidence interval
  double high = 1;
};

/// A curve of speed-ups against the ideal line.
struct SpeedChart {
  std::string title;               ///< small letters, digits and .,:-+()/%= are drawn
  std::vector<SpeedPoint> points;  ///< from the fewest devices to the most
};

/// The chart as the text of an SVG file, and as the bytes of a PNG file.
std::string speed_chart_svg(const SpeedChart& chart);
std::string speed_chart_png(const SpeedChart& chart);

}  // namespace pagoda::app
