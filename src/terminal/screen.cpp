#include <pagoda/terminal/screen.h>

#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace pagoda {
namespace {

/// As ECMA-48 numbers them ("select graphic rendition").
const char* rendition(Emphasis emphasis) {
  switch (emphasis) {
    case Emphasis::bold:
      return "1";
    case Emphasis::red:
      return "31";
    case Emphasis::yellow:
      return "33";
    case Emphasis::green:
      return "32";
    case Emphasis::dim:
      return "2";
  }
  return "0";
}

}  // namespace

int terminal_columns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool has_colours(int descriptor) {
  const char* const refused = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (refused == nullptr || *refused == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb" && isatty(descriptor) != 0;
}

std::string emphasised(const std::string& text, Emphasis emphasis, bool colours) {
  if (!colours || text.empty()) return text;
  return std::string("\033[") + rendition(emphasis) + "m" + text + "\033[0m";
}

}  // namespace pagoda
