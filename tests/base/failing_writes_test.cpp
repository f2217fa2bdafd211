#include "base/failing_writes.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace pagoda {
namespace failing_writes_test {

/// Ends the process with 0 if writing there fails with that error.
void write_and_expect(int descriptor, int error) {
  const ssize_t written = write(descriptor, "log", 3);
  std::_Exit(written == -1 && errno == error ? 0 : 1);
}

void write_to_nobody() {
  int ends[2] = {};
  if (pipe(ends) != 0) std::_Exit(2);
  close(ends[0]);
  write_and_expect(ends[1], EPIPE);
}

void write_past_the_limit() {
  const rlimit limit{.rlim_cur = 0, .rlim_max = 0};
  std::FILE* const file = std::tmpfile();
  if (file == nullptr || setrlimit(RLIMIT_FSIZE, &limit) != 0) std::_Exit(2);
  write_and_expect(fileno(file), EFBIG);
}

/// A way to fail, the signal that tells of it, and what turns that off.
struct FailingWrite {
  void (*write)();
  int signal;
  void (*ignore)();
};

constexpr FailingWrite kFailingWrites[] = {
    {write_to_nobody, SIGPIPE, ignore_broken_pipes},
    {write_past_the_limit, SIGXFSZ, ignore_file_size_limit},
};

TEST(FailingWritesDeathTest, AWriteFailsInsteadOfEndingTheProcess) {
  for (const FailingWrite& failing : kFailingWrites) {
    const auto write_after = [&](bool is_ignored) {
      std::signal(failing.signal, SIG_DFL);
      if (is_ignored) failing.ignore();
      failing.write();
    };
    EXPECT_EXIT(write_after(false), ::testing::KilledBySignal(failing.signal), "");
    EXPECT_EXIT(write_after(true), ::testing::ExitedWithCode(0), "");
  }
}

TEST(FailingWritesTest, AHandlerOfTheProgramStays) {
  for (const FailingWrite& failing : kFailingWrites) {
    const auto before = std::signal(failing.signal, [](int) {});
    failing.ignore();
    const auto after = std::signal(failing.signal, before);
    EXPECT_NE(after, SIG_IGN);
    EXPECT_NE(after, SIG_DFL);
  }
}

}  // namespace failing_writes_test
}  // namespace pagoda
