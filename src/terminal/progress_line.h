#pragma once

#include <cstdint>
#include <string>

namespace pagoda {

/// "02:03", or "1:02:03" from an hour on.
std::string clock_text(double seconds);

/// How far something has come.
struct Progress {
  std::int64_t done = 0;
  std::int64_t total = 1;
  double passed_seconds = 0;
  double left_seconds = 0;
  std::string note = {};  ///< parts with ", " between them, the most important last
};

/// One line for a terminal of so many columns, of which it leaves the last one free, because some
/// terminals go on to the next line behind it:
///     " 42%|████▏     | 42/100 [00:21<00:29, 1,200 samples/s, loss 1.32]"
/// Where that is too wide, the bar shrinks first; then the note loses its parts from the first on;
/// then times, numbers and bar are left out. Not even the percentage is wider than the terminal.
std::string progress_line(const Progress& progress, int columns);

}  // namespace pagoda
