#include <pagoda/terminal/screen.h>

#include <cstdlib>
#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace screen_test {

/// A terminal of so many columns, and the environment as it was when the test is over.
class ScreenTest : public testing::Test {
 protected:
  ScreenTest() {
    winsize size{};
    size.ws_col = 97;
    EXPECT_EQ(openpty(&outer_, &terminal_, nullptr, nullptr, &size), 0);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
  }
  ~ScreenTest() override {
    close(outer_);
    close(terminal_);
    unsetenv("NO_COLOR");
  }

  int outer_ = -1;
  int terminal_ = -1;
};

TEST_F(ScreenTest, ATerminalHasColumnsAndColours) {
  EXPECT_EQ(terminal_columns(terminal_), 97);
  EXPECT_TRUE(has_colours(terminal_));
}

TEST_F(ScreenTest, AFileHasNeither) {
  const int file = open("/dev/null", O_WRONLY);
  EXPECT_EQ(terminal_columns(file), 0);
  EXPECT_FALSE(has_colours(file));
  close(file);
}

TEST_F(ScreenTest, ColoursCanBeRefused) {
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(has_colours(terminal_));
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(has_colours(terminal_)) << "an empty value asks for nothing";
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(has_colours(terminal_));
  unsetenv("TERM");
  EXPECT_FALSE(has_colours(terminal_));
}

TEST_F(ScreenTest, EmphasisEndsWithTheText) {
  EXPECT_EQ(emphasised("bad", Emphasis::red, true), "\033[31mbad\033[0m");
  EXPECT_EQ(emphasised("bad", Emphasis::red, false), "bad");
  EXPECT_EQ(emphasised("", Emphasis::bold, true), "");
}

}  // namespace screen_test
}  // namespace pagoda
