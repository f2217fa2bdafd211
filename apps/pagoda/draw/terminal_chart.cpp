#include "draw/terminal_chart.h"

#include <pagoda/base/number_text.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace pagoda::app {
namespace {

constexpr int kLabelColumns = 9;  // of the numbers at the left, with the axis
constexpr int kLeastColumns = 20;
/// Of a terminal with 256 colours, a strong and a weak one for each family.
constexpr int kInks[][2] = {{33, 24}, {208, 130}, {42, 29}, {213, 133}, {220, 136}, {117, 67}};

/// Characters of a terminal with the dots in them: which, and whose colour they have.
class Dots {
 public:
  Dots(int columns, int rows)
      : columns_(columns), rows_(rows), cells_(static_cast<std::size_t>(columns * rows)) {}

  int width() const { return 2 * columns_; }
  int height() const { return 4 * rows_; }

  void set(int x, int y, int ink) {
    if (x < 0 || y < 0 || x >= width() || y >= height()) return;
    // The numbers of braille's dots go down both columns, and those of the lowest row come last.
    constexpr unsigned kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    Cell& cell = at(x / 2, y / 4);
    cell.dots |= kBits[y % 4][x % 2];
    cell.ink = ink;
  }

  void mark(int x, int y, char letter, int ink) {
    Cell& cell = at(std::clamp(x / 2, 0, columns_ - 1), std::clamp(y / 4, 0, rows_ - 1));
    cell.letter = letter;
    cell.ink = ink;
  }

  std::string row(int number, bool colours) {
    std::string text;
    for (int column = 0; column < columns_; ++column) {
      const Cell& cell = at(column, number);
      const std::string shown = character(cell);
      text += !colours || shown == " "
                  ? shown
                  : "\033[38;5;" + std::to_string(cell.ink) + "m" + shown + "\033[0m";
    }
    return text;
  }

 private:
  struct Cell {
    unsigned dots = 0;
    char letter = 0;
    int ink = 0;
  };

  Cell& at(int column, int row) {
    return cells_[static_cast<std::size_t>(row * columns_ + column)];
  }

  /// The characters of U+2800 have a dot for each bit, here in UTF-8.
  static std::string character(const Cell& cell) {
    if (cell.letter != 0) return {cell.letter};
    if (cell.dots == 0) return " ";
    return {'\xE2', static_cast<char>(0xA0 | cell.dots >> 6),
            static_cast<char>(0x80 | (cell.dots & 0x3F))};
  }

  int columns_;
  int rows_;
  std::vector<Cell> cells_;
};

int ink_of(const Curve& curve) {
  return kInks[curve.family % std::size(kInks)][curve.strong ? 0 : 1];
}

char letter_of(std::size_t curve) { return static_cast<char>('a' + curve % 26); }

void draw_segment(Dots& dots, double x1, double y1, double x2, double y2, int ink) {
  const int steps =
      std::max(1, static_cast<int>(std::ceil(std::max(std::abs(x2 - x1), std::abs(y2 - y1)))));
  for (int i = 0; i <= steps; ++i) {
    const double part = static_cast<double>(i) / steps;
    dots.set(static_cast<int>(std::lround(x1 + part * (x2 - x1))),
             static_cast<int>(std::lround(y1 + part * (y2 - y1))), ink);
  }
}

void draw_curve(Dots& dots, const Curve& curve, const ChartRange& range, char letter) {
  const auto points = thinned(curve.points, static_cast<std::size_t>(dots.width()));
  if (points.empty()) return;
  const auto x = [&](const CurvePoint& point) {
    return (dots.width() - 1) * (point.x - range.left) / (range.right - range.left);
  };
  const auto y = [&](const CurvePoint& point) {
    return (dots.height() - 1) * (range.high - point.y) / (range.high - range.low);
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    const CurvePoint& from = points[i == 0 ? 0 : i - 1];
    draw_segment(dots, x(from), y(from), x(points[i]), y(points[i]), ink_of(curve));
  }
  dots.mark(static_cast<int>(x(points.back())), static_cast<int>(y(points.back())), letter,
            ink_of(curve));
}

/// The numbers at the left, by row.
std::map<int, std::string> labels_of(const ChartRange& range, int rows, bool log_scale) {
  std::map<int, std::string> labels;
  for (const double tick : round_ticks(range.low, range.high, std::max(2, rows / 3))) {
    const double part = (range.high - tick) / (range.high - range.low);
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", log_scale ? std::pow(10, tick) : tick);
    labels[std::clamp(static_cast<int>(part * rows), 0, rows - 1)] = text;
  }
  return labels;
}

std::string right_aligned(const std::string& text, std::size_t columns) {
  return std::string(columns - std::min(columns, text.size()), ' ') + text;
}

/// The axis of steps, with its first number and its last.
std::string bottom(const ChartRange& range, int columns) {
  std::string axis(kLabelColumns - 1, ' ');
  axis += "└";
  for (int i = 0; i < columns; ++i) axis += "─";
  const std::string first = number_text(range.left);
  const std::string last = "step " + number_text(range.right);
  const auto rest =
      static_cast<std::size_t>(columns) - std::min(static_cast<std::size_t>(columns), first.size());
  return axis + "\n" + std::string(kLabelColumns, ' ') + first + right_aligned(last, rest) + "\n";
}

}  // namespace

std::string terminal_chart(const CurveChart& given, const TerminalSize& size) {
  const CurveChart chart = drawable(given);
  const ChartRange range = range_of(given);
  const int columns = std::max(kLeastColumns, size.columns - kLabelColumns - 1);
  Dots dots(columns, size.rows);
  for (std::size_t i = 0; i < chart.curves.size(); ++i)
    draw_curve(dots, chart.curves[i], range, letter_of(i));
  const auto labels = labels_of(range, size.rows, chart.log_scale);
  std::string text;
  for (int row = 0; row < size.rows; ++row) {
    const auto label = labels.find(row);
    text += right_aligned(label == labels.end() ? "" : label->second, kLabelColumns - 2);
    text += label == labels.end() ? " │" : " ┤";
    text += dots.row(row, size.colours);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  text += bottom(range, columns);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const std::string name = std::string(1, letter_of(i)) + " " + chart.curves[i].name;
    text += std::string(kLabelColumns, ' ');
    text += size.colours
                ? "\033[38;5;" + std::to_string(ink_of(chart.curves[i])) + "m" + name + "\033[0m"
                : name;
    text += "\n";
  }
  return text;
}

}  // namespace pagoda::app
