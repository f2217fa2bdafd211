#pragma once

#include <pagoda/base/stopwatch.h>

#include <cstdint>
#include <string>

namespace pagoda {

/// How log lines are written: as text for people, or each as a JSON object.
enum class LogFormat { text, json };

/// What a person watches on stderr: log lines that scroll and, if stderr is a terminal and the
/// lines are text, a progress bar below them that is as wide as the terminal allows.
///
/// Threads: one.
class Console {
 public:
  /// A console that is not shown writes nothing.
  explicit Console(LogFormat format, bool is_shown = true);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// The format of the log lines.
  LogFormat format() const { return format_; }

  /// Writes one line; in text format, date and time come first.
  void line(const std::string& text);

  /// Shows a bar over `total` steps from now on.
  void expect(std::int64_t total);

  /// The number of steps that the bar counts up to.
  std::int64_t total() const { return total_; }
  /// Whether a bar is shown.
  bool has_bar() const { return has_bar_; }

  /// The remaining time at the pace so far, as "02:03" or "1:02:03".
  std::string time_left() const;

  /// Moves the bar; `note`, such as "1,200 samples/s, loss 1.32", is shown at its end.
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
  std::int64_t first_ = -1;  // the bar's first position, where a resumed run starts
  std::string note_;
  Stopwatch watch_;  // since `expect`
  Stopwatch drawn_;  // since the bar was last drawn
  bool is_drawn_ = false;
};

}  // namespace pagoda
