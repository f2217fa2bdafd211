#pragma once

#include <memory>
#include <optional>
#include <string>

namespace pagoda::app {

/// The lines of stdin. On a terminal they are typed at a prompt and can be edited, and earlier ones
/// come back with the arrow keys; otherwise they are read as they are.
///
/// Threads: one. On a terminal SIGINT and SIGTERM end the input while this exists, so that the
/// terminal is left as it was; one at a time in a process.
class LineInput {
 public:
  /// The prompt is shown on a terminal only, where both stdin and stdout must be one.
  explicit LineInput(const std::string& prompt);
  ~LineInput();
  LineInput(const LineInput&) = delete;
  LineInput& operator=(const LineInput&) = delete;

  /// The next line without its end; on a terminal bytes that are not UTF-8 become U+FFFD. Nothing
  /// at the end of the input, after Ctrl-D or a signal.
  std::optional<std::string> next();

  bool is_terminal() const { return terminal_ != nullptr; }

  /// What the process should return: 130 after Ctrl-C, 143 after SIGTERM, otherwise 0.
  int exit_code() const;

 private:
  struct Terminal;
  std::unique_ptr<Terminal> terminal_;  // null without one
};

}  // namespace pagoda::app
