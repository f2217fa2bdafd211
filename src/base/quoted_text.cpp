#include "base/quoted_text.h"

namespace pagoda {

std::string quoted_text(std::string_view text) {
  constexpr std::size_t kLongest = 120;
  constexpr const char* kDigits = "0123456789abcdef";
  std::string quoted = "'";
  for (const char character : text.substr(0, kLongest)) {
    const auto code = static_cast<unsigned char>(character);
    if (code >= 0x20 && code != 0x7f) {
      quoted += character;
    } else {
      quoted += {'\\', 'x', kDigits[code / 16], kDigits[code % 16]};
    }
  }
  return quoted + (text.size() > kLongest ? "…'" : "'");
}

}  // namespace pagoda
