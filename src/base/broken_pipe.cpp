#include "base/broken_pipe.h"

#include <csignal>

namespace pagoda {

void ignore_broken_pipes() {
  struct sigaction current {};
  if (sigaction(SIGPIPE, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) return;
  current.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &current, nullptr);
}

}  // namespace pagoda
