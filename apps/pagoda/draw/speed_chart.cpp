#include "draw/speed_chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "draw/drawing.h"

namespace pagoda::app {
namespace {

constexpr Colour kGrey = {220, 220, 220};
constexpr Colour kAxis = {90, 90, 90};
constexpr Colour kIdeal = {150, 150, 150};
constexpr Colour kMeasured = {200, 60, 40};
constexpr int kWidth = 560;
constexpr int kHeight = 400;
constexpr double kLeft = 70;
constexpr double kRight = kWidth - 30;
constexpr double kTop = 50;
constexpr double kBottom = kHeight - 60;

/// Both axes go from 0 to the number of devices, so that the ideal line is the diagonal; a faster
/// than ideal curve makes room for itself.
class Axes {
 public:
  explicit Axes(const std::vector<SpeedPoint>& points) {
    for (const auto& point : points) {
      most_devices_ = std::max(most_devices_, static_cast<double>(point.devices));
      most_speed_ = std::max({most_speed_, most_devices_, point.high});
    }
    most_speed_ = std::ceil(most_speed_);
  }

  double x(double devices) const { return kLeft + (kRight - kLeft) * devices / most_devices_; }
  double y(double speed_up) const { return kBottom - (kBottom - kTop) * speed_up / most_speed_; }
  int devices() const { return static_cast<int>(most_devices_); }
  int speed() const { return static_cast<int>(most_speed_); }

 private:
  double most_devices_ = 1;
  double most_speed_ = 1;
};

void draw_axes(Drawing& drawing, const Axes& axes) {
  const int step = std::max(1, axes.speed() / 8);
  for (int speed = 0; speed <= axes.speed(); speed += step) {
    drawing.lines.push_back({kLeft, axes.y(speed), kRight, axes.y(speed), kGrey});
    drawing.texts.push_back(
        {kLeft - 10, axes.y(speed) + 6, std::to_string(speed) + "x", Anchor::end});
  }
  for (int devices = 1; devices <= axes.devices(); devices += std::max(1, axes.devices() / 8)) {
    drawing.texts.push_back(
        {axes.x(devices), kBottom + 24, std::to_string(devices), Anchor::middle});
  }
  drawing.lines.push_back({kLeft, kBottom, kRight, kBottom, kAxis, 1.5});
  drawing.lines.push_back({kLeft, kTop, kLeft, kBottom, kAxis, 1.5});
  drawing.texts.push_back({(kLeft + kRight) / 2, kBottom + 48, "devices", Anchor::middle});
}

void draw_legend(Drawing& drawing) {
  drawing.lines.push_back({kLeft + 20, kTop + 12, kLeft + 60, kTop + 12, kMeasured, 2.5});
  drawing.texts.push_back({kLeft + 70, kTop + 18, "measured"});
  drawing.lines.push_back({kLeft + 20, kTop + 36, kLeft + 60, kTop + 36, kIdeal, 2, true});
  drawing.texts.push_back({kLeft + 70, kTop + 42, "ideal"});
}

Drawing drawing_of(const SpeedChart& chart) {
  Drawing drawing{.width = kWidth, .height = kHeight};
  const Axes axes(chart.points);
  draw_axes(drawing, axes);
  drawing.lines.push_back(
      {axes.x(0), axes.y(0), axes.x(axes.devices()), axes.y(axes.devices()), kIdeal, 2, true});
  for (std::size_t i = 0; i < chart.points.size(); ++i) {
    const SpeedPoint& point = chart.points[i];
    const double x = axes.x(point.devices);
    const double y = axes.y(point.speed_up);
    drawing.lines.push_back({x, axes.y(point.low), x, axes.y(point.high), kMeasured, 1.5});
    drawing.lines.push_back({x - 4, y, x + 4, y, kMeasured, 8});  // a square mark
    if (i == 0) continue;
    const SpeedPoint& before = chart.points[i - 1];
    drawing.lines.push_back(
        {axes.x(before.devices), axes.y(before.speed_up), x, y, kMeasured, 2.5});
  }
  draw_legend(drawing);
  drawing.texts.push_back({kWidth / 2.0, kTop - 20, chart.title, Anchor::middle});
  return drawing;
}

}  // namespace

std::string speed_chart_svg(const SpeedChart& chart) { return svg_of(drawing_of(chart)); }

std::string speed_chart_png(const SpeedChart& chart) { return png_of(drawing_of(chart)); }

}  // namespace pagoda::app
