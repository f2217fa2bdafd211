#pragma once

#include <algorithm>
#include <string>

#include "base/quoted_text.h"

namespace pagoda {

/// A name of a program as it is, where it is one that Python can have; otherwise quoted, on one line.
inline std::string printable_text(const std::string& name) {
  constexpr std::size_t kLongest = 200;
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char character) {
    return character >= 0x20 && character != 0x7f;
  });
  return plain && name.size() <= kLongest ? name : quoted_text(name);
}

}  // namespace pagoda
