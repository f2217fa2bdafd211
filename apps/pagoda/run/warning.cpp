#include "run/warning.h"

#include <pagoda/terminal/screen.h>

#include <cstdio>
#include <unistd.h>

namespace pagoda::app {

void print_warning(const std::string& text) {
  const std::string word = emphasised("warning:", Emphasis::yellow, has_colours(STDERR_FILENO));
  std::fprintf(stderr, "pagoda: %s %s\n", word.c_str(), text.c_str());
}

}  // namespace pagoda::app
