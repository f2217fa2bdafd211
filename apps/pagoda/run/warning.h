#pragma once

#include <string>

namespace pagoda::app {

/// A line "pagoda: warning: …" on stderr, with the word in yellow where it is a terminal.
void print_warning(const std::string& text);

}  // namespace pagoda::app
