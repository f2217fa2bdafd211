#include "base/failing_writes.h"

#include <csignal>

namespace pagoda {
namespace {

void ignore(int number) {
  struct sigaction current {};
  if (sigaction(number, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) return;
  current.sa_handler = SIG_IGN;
  sigaction(number, &current, nullptr);
}

}  // namespace

void ignore_broken_pipes() { ignore(SIGPIPE); }

void ignore_file_size_limit() { ignore(SIGXFSZ); }

}  // namespace pagoda
