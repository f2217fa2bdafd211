#include "draw/curve_chart.h"

#include <pagoda/base/number_text.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "draw/drawing.h"

namespace pagoda::app {
namespace {

constexpr Colour kGridColour = {225, 225, 225};
constexpr Colour kAxisColour = {90, 90, 90};
/// Colours that people with colour-blindness can tell apart (Okabe and Ito).
constexpr Colour kFamilies[] = {{0, 114, 178},   {213, 94, 0},  {0, 158, 115},
                                {204, 121, 167}, {230, 159, 0}, {86, 180, 233}};
constexpr int kChartWidth = 820;
constexpr int kPlotHeight = 360;
constexpr double kPlotLeft = 80;
constexpr double kPlotRight = kChartWidth - 30;
constexpr double kPlotTop = 24;
constexpr double kPlotBottom = kPlotTop + kPlotHeight;
constexpr double kLegendTop = kPlotBottom + 66;
constexpr double kLegendLine = 24;
constexpr std::size_t kMostPoints = 700;

Colour lightened(const Colour& colour) {
  Colour light{};
  for (std::size_t i = 0; i < 3; ++i)
    light[i] = static_cast<std::uint8_t>(255 - (255 - colour[i]) * 45 / 100);
  return light;
}

Colour colour_of(const Curve& curve) {
  const Colour colour = kFamilies[curve.family % std::size(kFamilies)];
  return curve.strong ? colour : lightened(colour);
}

double width_of(const Curve& curve) { return curve.strong ? 2.5 : 1.5; }

/// Where values lie on the paper.
class Paper {
 public:
  explicit Paper(const ChartRange& range) : range_(range) {}
  double x(double value) const {
    return kPlotLeft +
           (kPlotRight - kPlotLeft) * (value - range_.left) / (range_.right - range_.left);
  }
  double y(double value) const {
    return kPlotBottom - kPlotHeight * (value - range_.low) / (range_.high - range_.low);
  }

 private:
  ChartRange range_;
};

void draw_grid(Drawing& drawing, const ChartRange& range, bool log_scale) {
  const Paper paper(range);
  for (const double tick : round_ticks(range.low, range.high, 8)) {
    drawing.lines.push_back({kPlotLeft, paper.y(tick), kPlotRight, paper.y(tick), kGridColour});
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", log_scale ? std::pow(10, tick) : tick);
    drawing.texts.push_back({kPlotLeft - 10, paper.y(tick) + 6, text, Anchor::end});
  }
  for (const double tick : round_ticks(range.left, range.right, 8)) {
    drawing.lines.push_back({paper.x(tick), kPlotTop, paper.x(tick), kPlotBottom, kGridColour});
    drawing.texts.push_back({paper.x(tick), kPlotBottom + 24, number_text(tick), Anchor::middle});
  }
  drawing.lines.push_back({kPlotLeft, kPlotBottom, kPlotRight, kPlotBottom, kAxisColour, 1.5});
  drawing.lines.push_back({kPlotLeft, kPlotTop, kPlotLeft, kPlotBottom, kAxisColour, 1.5});
  drawing.texts.push_back({(kPlotLeft + kPlotRight) / 2, kPlotBottom + 46, "step", Anchor::middle});
}

void draw_curve(Drawing& drawing, const Curve& curve, const Paper& paper) {
  const auto points = thinned(curve.points, kMostPoints);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double x = paper.x(points[i].x);
    const double y = paper.y(points[i].y);
    if (i > 0) {
      drawing.lines.push_back({paper.x(points[i - 1].x), paper.y(points[i - 1].y), x, y,
                               colour_of(curve), width_of(curve)});
    }
    const bool is_mark = curve.strong && points.size() <= 60;
    if (is_mark || points.size() == 1)
      drawing.lines.push_back({x - 2.5, y, x + 2.5, y, colour_of(curve), 5});
  }
}

void draw_legend(Drawing& drawing, const CurveChart& chart) {
  double y = kLegendTop + 12;
  for (const Curve& curve : chart.curves) {
    drawing.lines.push_back(
        {kPlotLeft, y - 5, kPlotLeft + 40, y - 5, colour_of(curve), width_of(curve)});
    drawing.texts.push_back({kPlotLeft + 52, y, curve.name});
    y += kLegendLine;
  }
}

Drawing drawing_of(const CurveChart& given) {
  const CurveChart chart = drawable(given);
  Drawing drawing{
      .width = kChartWidth,
      .height =
          static_cast<int>(kLegendTop + kLegendLine * static_cast<double>(chart.curves.size())) +
          10};
  const ChartRange range = range_of(given);
  draw_grid(drawing, range, chart.log_scale);
  for (const bool strong : {false, true}) {
    for (const Curve& curve : chart.curves) {
      if (curve.strong == strong) draw_curve(drawing, curve, Paper(range));
    }
  }
  draw_legend(drawing, chart);
  return drawing;
}

/// Also that differences of two such numbers are finite.
bool can_be_drawn(double value) { return std::abs(value) < 1e300; }

/// Whether numbers between the two have digits enough.
bool can_be_told_apart(double low, double high) { return high - low > 1e-9 * std::abs(high); }

double room_around(double value) { return std::max(1.0, 1e-6 * std::abs(value)); }

}  // namespace

CurveChart drawable(CurveChart chart) {
  for (Curve& curve : chart.curves) {
    std::vector<CurvePoint> kept;
    for (CurvePoint point : curve.points) {
      if (chart.log_scale) point.y = point.y > 0 ? std::log10(point.y) : std::nan("");
      if (can_be_drawn(point.x) && can_be_drawn(point.y)) kept.push_back(point);
    }
    curve.points = std::move(kept);
  }
  return chart;
}

ChartRange range_of(const CurveChart& given) {
  constexpr double kMost = std::numeric_limits<double>::infinity();
  ChartRange range{.left = kMost, .right = -kMost, .low = kMost, .high = -kMost};
  for (const Curve& curve : drawable(given).curves) {
    for (const CurvePoint& point : curve.points) {
      range.left = std::min(range.left, point.x);
      range.right = std::max(range.right, point.x);
      range.low = std::min(range.low, point.y);
      range.high = std::max(range.high, point.y);
    }
  }
  if (range.left > range.right) return {};
  if (!can_be_told_apart(range.left, range.right)) range.right += room_around(range.right);
  if (!can_be_told_apart(range.low, range.high)) {
    const double room = room_around(range.high) / 2;
    return {range.left, range.right, range.low - room, range.high + room};
  }
  const double margin = (range.high - range.low) * 0.05;
  return {range.left, range.right, range.low - margin, range.high + margin};
}

std::vector<double> round_ticks(double low, double high, int most) {
  const double least_step = (high - low) / most;
  double step = std::pow(10, std::floor(std::log10(least_step)));
  for (const double factor : {2.0, 2.5, 2.0}) {  // 1, 2, 5, 10
    if (step >= least_step) break;
    step *= factor;
  }
  std::vector<double> ticks;
  const double first = std::ceil(low / step);
  for (int i = 0; i <= most && (first + i) * step <= high + step * 1e-9; ++i)
    ticks.push_back((first + i) * step);
  if (ticks.empty()) ticks.push_back(low);
  return ticks;
}

std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& points, std::size_t most) {
  if (points.size() <= most) return points;
  std::vector<CurvePoint> means;
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t begin = i * points.size() / most;
    const std::size_t end = (i + 1) * points.size() / most;
    CurvePoint mean;
    for (std::size_t j = begin; j < end; ++j) {
      mean.x += points[j].x / static_cast<double>(end - begin);
      mean.y += points[j].y / static_cast<double>(end - begin);
    }
    means.push_back(mean);
  }
  return means;
}

std::string curve_chart_svg(const CurveChart& chart) { return svg_of(drawing_of(chart)); }

std::string curve_chart_png(const CurveChart& chart) { return png_of(drawing_of(chart)); }

}  // namespace pagoda::app
