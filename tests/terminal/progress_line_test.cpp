#include "terminal/progress_line.h"

#include <pagoda/terminal/text_table.h>

#include <algorithm>

#include <gtest/gtest.h>

namespace pagoda {
namespace progress_line_test {

Progress some_progress(std::int64_t done) {
  return {.done = done,
          .total = 1000,
          .passed_seconds = 21,
          .left_seconds = 4 * 3600 + 5 * 60 + 6,
          .note = "12,345 samples/s, loss 1.3200"};
}

TEST(ProgressLineTest, IsNeverWiderThanTheTerminalButForItsLastColumn) {
  for (const std::int64_t done : {0, 1, 421, 999, 1000, 1001}) {
    for (int columns = 0; columns <= 200; ++columns) {
      const std::size_t width = shown_width(progress_line(some_progress(done), columns));
      EXPECT_LE(width, static_cast<std::size_t>(std::max(0, columns - 1)))
          << done << " of 1000 in " << columns << " columns";
    }
  }
}

TEST(ProgressLineTest, LosesTheLeastImportantFirst) {
  const auto tail = [](int columns) {
    const std::string line = progress_line(some_progress(500), columns);
    return line.substr(line.rfind('|'));
  };
  const std::string times = "| 500/1000 [00:21<4:05:06";
  const int least = 5 + 4 + 1;  // percentage, the smallest bar, and the last column
  const auto fits = [&](const std::string& text) { return least + static_cast<int>(text.size()); };
  const std::string whole = times + ", 12,345 samples/s, loss 1.3200]";
  const std::string with_loss = times + ", loss 1.3200]";
  EXPECT_EQ(tail(200), whole);
  EXPECT_EQ(tail(fits(whole)), whole);
  EXPECT_EQ(tail(fits(whole) - 1), with_loss);
  EXPECT_EQ(tail(fits(with_loss)), with_loss);
  EXPECT_EQ(tail(fits(with_loss) - 1), times + "]");
  EXPECT_EQ(tail(fits(times + "]") - 1), "| 500/1000");
  EXPECT_EQ(tail(fits("| 500/1000") - 1), "|");
  EXPECT_EQ(progress_line(some_progress(500), fits("|") - 1), " 50%");
  EXPECT_EQ(progress_line(some_progress(500), 3), " 5");
}

TEST(ProgressLineTest, TheBarIsFilledInProportion) {
  // So many columns that the bar has its most cells, 60.
  const auto bar = [](std::int64_t done) {
    const std::string line = progress_line({.done = done, .total = 480}, 200);
    return line.substr(5, line.rfind('|') - 5);
  };
  const std::string full = "█";
  for (const std::int64_t done : {0, 8, 240, 480}) {
    std::string expected;
    for (std::int64_t cell = 0; cell < 60; ++cell) expected += cell < done / 8 ? full : " ";
    EXPECT_EQ(bar(done), expected) << done;
  }
  EXPECT_EQ(bar(4), "▌" + std::string(59, ' '));  // half of a cell
}

TEST(ClockTextTest, ShowsHoursFromOneOn) {
  EXPECT_EQ(clock_text(0), "00:00");
  EXPECT_EQ(clock_text(59.9), "00:59");
  EXPECT_EQ(clock_text(3599), "59:59");
  EXPECT_EQ(clock_text(3600), "1:00:00");
  EXPECT_EQ(clock_text(100 * 3600 + 61), "100:01:01");
}

}  // namespace progress_line_test
}  // namespace pagoda
