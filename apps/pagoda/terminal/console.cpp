#include "terminal/console.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <sys/ioctl.h>
#include <unistd.h>

namespace pagoda::app {
namespace {

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

/// "1:02:03" or "02:03".
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

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

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

}  // namespace

Console::Console(Format format) : format_(format), begin_(std::chrono::steady_clock::now()) {}

void Console::expect(std::int64_t total) {
  total_ = total;
  has_bar_ = format_ == Format::text && total > 0 && isatty(STDERR_FILENO) != 0;
  begin_ = std::chrono::steady_clock::now();
}

Console::~Console() {
  if (has_bar_ && done_ > 0) {
    draw_bar();
    std::fputc('\n', stderr);
  }
}

void Console::line(const std::string& text) {
  clear_bar();
  if (format_ == Format::text) {
    std::fprintf(stderr, "%s %s\n", date_text().c_str(), text.c_str());
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  if (has_bar_ && done_ > 0) draw_bar();
}

void Console::progress(std::int64_t done, const std::string& note) {
  using namespace std::chrono_literals;
  if (first_ < 0) first_ = done - 1;
  done_ = done;
  note_ = note;
  const auto now = std::chrono::steady_clock::now();
  if (!has_bar_ || (now - drawn_ < 100ms && done < total_)) return;
  drawn_ = now;
  draw_bar();
}

double Console::passed_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

std::string Console::time_left() const {
  return clock_text(passed_seconds() * static_cast<double>(total_ - done_) /
                    static_cast<double>(std::max<std::int64_t>(1, done_ - first_)));
}

void Console::clear_bar() {
  if (has_bar_) std::fputs("\r\033[K", stderr);
}

void Console::draw_bar() {
  const double part =
      std::clamp(static_cast<double>(done_) / static_cast<double>(total_), 0.0, 1.0);
  char percent[8];
  std::snprintf(percent, sizeof percent, "%3d%%|", static_cast<int>(part * 100));
  const std::string tail = "| " + std::to_string(done_) + "/" + std::to_string(total_) + " [" +
                           clock_text(passed_seconds()) + "<" + time_left() + ", " + note_ + "]";
  const int cells = std::clamp(terminal_columns() - 6 - static_cast<int>(tail.size()), 4, 60);
  std::fprintf(stderr, "\r%s%s%s\033[K", percent, bar_text(part, cells).c_str(), tail.c_str());
  std::fflush(stderr);
}

}  // namespace pagoda::app
