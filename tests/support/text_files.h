#pragma once

// Compressed text files for tests.

#include <filesystem>
#include <stdexcept>
#include <string_view>

#include <zlib.h>

namespace pagoda::testing {

inline void write_gzip(const std::filesystem::path& path, std::string_view bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  const bool written =
      file != nullptr &&
      (bytes.empty() || gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) > 0);
  if (!written || gzclose(file) != Z_OK) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace pagoda::testing
