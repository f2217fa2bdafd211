#include "data/file_checksums.h"

#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>

#include <charconv>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>

namespace pagoda {
namespace {

constexpr std::size_t kDigits = 8;

/// What the list says of this name; nothing when it does not know it.
std::optional<std::uint32_t> listed(const std::filesystem::path& list, const std::string& name) {
  std::istringstream lines(read_file_if_any(list).value_or(""));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::uint32_t checksum = 0;
    const char* digits_end = line.data() + std::min(kDigits, line.size());
    const auto [end, error] = std::from_chars(line.data(), digits_end, checksum, 16);
    if (error != std::errc{} || end != line.data() + kDigits || line.size() < kDigits + 2 ||
        line[kDigits] != ' ') {
      throw DataError(list.string() + ": line " + std::to_string(number) +
                      " is not a checksum, a blank and a name; get the data again");
    }
    if (line.substr(kDigits + 1) == name) return checksum;
  }
  return std::nullopt;
}

}  // namespace

void check_against_checksum(const std::filesystem::path& file, std::uint32_t crc32) {
  const auto wanted = listed(file.parent_path() / "crc32.txt", file.filename().string());
  if (!wanted || *wanted == crc32) return;
  char text[64];
  std::snprintf(text, sizeof text, "%08x, crc32.txt says %08x", crc32, *wanted);
  throw DataError(file.string() + " is damaged: its CRC-32 is " + text + "; get it again");
}

}  // namespace pagoda
