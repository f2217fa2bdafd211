#pragma once

// Files of the safetensors format that no writer would write.

#include <cstdint>
#include <string>

namespace pagoda::testing {

/// A file with this header, whatever it says, and this data.
inline std::string safetensors_bytes(const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i)
    length[i] = static_cast<char>(std::uint64_t{header.size()} >> (8 * i) & 0xff);
  return length + header + data;
}

}  // namespace pagoda::testing
