#include "base/broken_pipe.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace broken_pipe_test {

/// Ends the process with 0 if writing where nobody reads fails with EPIPE.
void write_to_nobody() {
  int ends[2] = {};
  if (pipe(ends) != 0) std::_Exit(2);
  close(ends[0]);
  const ssize_t written = write(ends[1], "log", 3);
  std::_Exit(written == -1 && errno == EPIPE ? 0 : 1);
}

TEST(BrokenPipeDeathTest, WritingWhereNobodyReadsFailsInsteadOfEndingTheProcess) {
  const auto write_after = [](bool is_ignored) {
    std::signal(SIGPIPE, SIG_DFL);
    if (is_ignored) ignore_broken_pipes();
    write_to_nobody();
  };
  EXPECT_EXIT(write_after(false), ::testing::KilledBySignal(SIGPIPE), "");
  EXPECT_EXIT(write_after(true), ::testing::ExitedWithCode(0), "");
}

TEST(BrokenPipeTest, AHandlerOfTheProgramStays) {
  const auto before = std::signal(SIGPIPE, [](int) {});
  ignore_broken_pipes();
  const auto after = std::signal(SIGPIPE, before);
  EXPECT_NE(after, SIG_IGN);
  EXPECT_NE(after, SIG_DFL);
}

}  // namespace broken_pipe_test
}  // namespace pagoda
