#pragma once

#include <pagoda/base/stopwatch.h>

#include <cstdint>
#include <string>

namespace pagoda {

/// How log lines are written: for people, or a JSON object each.
enum class LogFormat { text, json };

/// What a person watches on stderr: log lines that scroll, and under them a progress bar that
/// stays, as wide as the terminal allows, if stderr is one.
///
/// Threads: one.
class Console {
 public:
  /// One that is not shown writes nothing.
  explicit Console(LogFormat format, bool is_shown = true);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// Of the log lines.
  LogFormat format() const { return format_; }

  /// One line, with the date before it in text format.
  void line(const std::string& text);

  /// Shows a bar over `total` steps from now on.
  void expect(std::int64_t total);

  /// What the bar counts up to.
  std::int64_t total() const { return total_; }
  /// Whether a bar is shown.
  bool has_bar() const { return has_bar_; }

  /// How long the rest will take at the pace so far, as "02:03" or "1:02:03".
  std::string time_left() const;

  /// Moves the bar; `note` stands at its end, such as "1,200 samples/s, loss 1.32".
  void progress(std::int64_t done, const std::string& note);

 private:
  void clear_bar();
  void draw_bar();
  double seconds_left() const;

  LogFormat format_;
  bool is_shown_;
  std::int64_t total_ = 0;
  bool has_bar_ = false;
  std::int64_t done_ = 0;
  std::int64_t first_ = -1;  // the bar's first position, where a resumed run begins
  std::string note_;
  Stopwatch watch_;  // since `expect`
  Stopwatch drawn_;  // since the bar was drawn
  bool is_drawn_ = false;
};

}  // namespace pagoda
