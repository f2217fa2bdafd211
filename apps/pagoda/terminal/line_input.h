#pragma once

#include <pagoda/text/line_reader.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace pagoda::app {

/// A line that somebody has given.
struct InputLine {
  std::string text;          ///< without its end
  std::string problem = {};  ///< why it cannot be used; empty for a good line
};

/// The lines of stdin. On a terminal they are typed at a prompt and can be edited, and earlier ones
/// come back with the arrow keys; otherwise they are read as they are.
///
/// Threads: one. On a terminal SIGINT and SIGTERM end the input while this exists, so that the
/// terminal is left as it was; one at a time in a process.
/// Fails: as LineReader where there is no terminal.
class LineInput {
 public:
  /// The prompt is shown on a terminal only, where both stdin and stdout must be one. A line of more
  /// bytes has a problem.
  LineInput(const std::string& prompt, std::size_t max_bytes);
  ~LineInput();
  LineInput(const LineInput&) = delete;
  LineInput& operator=(const LineInput&) = delete;

  /// Nothing at the end of the input, after Ctrl-D or a signal.
  std::optional<InputLine> next();

  bool is_terminal() const { return terminal_ != nullptr; }

  /// What the process should return: 130 after Ctrl-C, 143 after SIGTERM, otherwise 0.
  int exit_code() const;

 private:
  struct Terminal;
  const std::size_t max_bytes_;
  std::unique_ptr<Terminal> terminal_;  // one of the two
  std::optional<LineReader> reader_;
};

}  // namespace pagoda::app
