#include "fuzz/stored_zip.h"

#include <cstdint>

#include <zlib.h>

// Layout: .ZIP File Format Specification (PKWARE APPNOTE 6.3), sections 4.3.7 to 4.3.16.

namespace pagoda::fuzz {
namespace {

std::string number(std::uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

/// What an entry's own header and its row in the directory have in common.
std::string description(std::string_view name, std::string_view content) {
  const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  return number(0, 2) + number(0, 2) + number(0, 4) + number(content.empty() ? 0 : sum, 4) +
         number(content.size(), 4) + number(content.size(), 4) + number(name.size(), 2) +
         number(0, 2);
}

}  // namespace

std::string stored_zip(const std::vector<std::pair<std::string, std::string_view>>& entries) {
  std::string zip;
  std::string directory;
  for (const auto& [name, content] : entries) {
    const std::string common = description(name, content);
    directory += number(0x02014b50, 4) + number(20, 2) + number(20, 2) + common + number(0, 8) +
                 number(0, 2) + number(zip.size(), 4) + name;
    zip += number(0x04034b50, 4) + number(20, 2) + common + name;
    zip += content;
  }
  const std::size_t at = zip.size();
  return zip + directory + number(0x06054b50, 4) + number(0, 4) + number(entries.size(), 2) +
         number(entries.size(), 2) + number(directory.size(), 4) + number(at, 4) + number(0, 2);
}

}  // namespace pagoda::fuzz
