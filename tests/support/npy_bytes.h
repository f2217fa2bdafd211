#pragma once

// Files as numpy.save writes them, and as it would not.

#include <cstdint>
#include <string>

namespace pagoda::testing {

/// A file of version 1 with this header, whatever it says, and this data.
inline std::string npy_bytes(const std::string& header, const std::string& data) {
  std::string bytes = "\x93NUMPY";
  bytes +=
      {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return bytes + header + data;
}

/// The header of an array: `npy_header("<f4", "(3, 2)")`.
inline std::string npy_header(const std::string& type, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }  \n";
}

}  // namespace pagoda::testing
