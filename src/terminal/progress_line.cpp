#include "terminal/progress_line.h"

#include <pagoda/terminal/text_table.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace pagoda {
namespace {

constexpr int kLeastCells = 4;
constexpr int kMostCells = 60;

/// `cells` wide, filled to an eighth of a cell.
std::string bar_text(double part, int cells) {
  static const char* const kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(part * cells * 8);
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  text += kEighths[eighths % 8];
  for (int i = (eighths + 7) / 8; i < cells; ++i) text += ' ';
  return text;
}

/// What may stand behind the bar, the longest first.
std::vector<std::string> tails(const Progress& progress) {
  const std::string numbers =
      "| " + std::to_string(progress.done) + "/" + std::to_string(progress.total);
  const std::string times = numbers + " [" + clock_text(progress.passed_seconds) + "<" +
                            clock_text(progress.left_seconds);
  std::vector<std::string> all;
  for (std::string note = progress.note; !note.empty();) {
    all.push_back(times + ", " + note + "]");
    const std::size_t end = note.find(", ");
    note = end == std::string::npos ? "" : note.substr(end + 2);
  }
  all.push_back(times + "]");
  all.push_back(numbers);
  all.emplace_back("|");
  return all;
}

}  // namespace

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(seconds);
  char text[32];
  if (whole >= 3600) {
    std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%02ld:%02ld", whole / 60, whole % 60);
  }
  return text;
}

std::string progress_line(const Progress& progress, int columns) {
  const double part = std::clamp(
      static_cast<double>(progress.done) / static_cast<double>(progress.total), 0.0, 1.0);
  char percent[8];
  std::snprintf(percent, sizeof percent, "%3d%%", static_cast<int>(part * 100));
  const int width = std::max(columns - 1, 0);
  const int behind_percent = width - static_cast<int>(sizeof "100%|") + 1;
  for (const std::string& tail : tails(progress)) {
    const int cells = behind_percent - static_cast<int>(shown_width(tail));
    if (cells >= kLeastCells)
      return std::string(percent) + "|" + bar_text(part, std::min(cells, kMostCells)) + tail;
  }
  return std::string(percent).substr(0, static_cast<std::size_t>(width));
}

}  // namespace pagoda
