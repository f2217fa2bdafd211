#include "cli/standard_descriptors.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace pagoda {

void occupy_standard_descriptors() {
  // The wrong way round for stdin and stdout, so that using them is an error still.
  constexpr std::array kModes = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free, hence this one.
    const int opened = open("/dev/null", kModes[static_cast<std::size_t>(descriptor)]);
    if (opened != descriptor) std::_Exit(EXIT_FAILURE);  // and nobody to tell
  }
}

}  // namespace pagoda
