#include <pagoda/base/time_text.h>
#include <pagoda/terminal/console.h>
#include <pagoda/terminal/screen.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <unistd.h>

#include "terminal/progress_line.h"

namespace pagoda {
namespace {

constexpr double kSecondsBetween = 0.1;  // two drawings of the bar
constexpr int kUsualColumns = 80;

/// The word that a warning begins with, in its colour where stderr shows it.
std::string with_yellow_warning(const std::string& line) {
  constexpr std::string_view kWarning = "warning:";
  if (!line.starts_with(kWarning)) return line;
  return emphasised(std::string(kWarning), Emphasis::yellow, has_colours(STDERR_FILENO)) +
         line.substr(kWarning.size());
}

}  // namespace

Console::Console(LogFormat format, bool is_shown) : format_(format), is_shown_(is_shown) {}

void Console::expect(std::int64_t total) {
  total_ = total;
  has_bar_ = is_shown_ && format_ == LogFormat::text && total > 0 && isatty(STDERR_FILENO) != 0;
  watch_.restart();
}

Console::~Console() {
  if (has_bar_ && done_ > 0) {
    draw_bar();
    std::fputc('\n', stderr);
  }
}

void Console::line(const std::string& text) {
  if (!is_shown_) return;
  clear_bar();
  if (format_ == LogFormat::text) {
    std::fprintf(stderr, "%s %s\n", local_time_text().c_str(), with_yellow_warning(text).c_str());
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  if (has_bar_ && done_ > 0) draw_bar();
}

void Console::progress(std::int64_t done, const std::string& note) {
  if (first_ < 0) first_ = done - 1;
  done_ = done;
  note_ = note;
  if (!has_bar_ || (is_drawn_ && drawn_.seconds() < kSecondsBetween && done < total_)) return;
  is_drawn_ = true;
  drawn_.restart();
  draw_bar();
}

double Console::seconds_left() const {
  return watch_.seconds() * static_cast<double>(total_ - done_) /
         static_cast<double>(std::max<std::int64_t>(1, done_ - first_));
}

std::string Console::time_left() const { return clock_text(seconds_left()); }

void Console::clear_bar() {
  if (has_bar_) std::fputs("\r\033[K", stderr);
}

void Console::draw_bar() {
  const int columns = terminal_columns(STDERR_FILENO);
  const std::string line = progress_line({.done = done_,
                                          .total = total_,
                                          .passed_seconds = watch_.seconds(),
                                          .left_seconds = seconds_left(),
                                          .note = note_},
                                         columns > 0 ? columns : kUsualColumns);
  std::fprintf(stderr, "\r%s\033[K", line.c_str());
  std::fflush(stderr);
}

}  // namespace pagoda
