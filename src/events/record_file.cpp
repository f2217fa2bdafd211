#include "events/record_file.h"

#include <cstdint>
#include <string>

#include "events/crc32c.h"

namespace pagoda {
namespace {

template <class Unsigned>
std::string little_endian(Unsigned value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(value); ++i) {
    bytes += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
  return bytes;
}

}  // namespace

RecordFile::RecordFile(const std::filesystem::path& path, std::size_t buffer_bytes)
    : file_(path, IfThere::refuse, buffer_bytes) {}

void RecordFile::append(std::string_view record) {
  const std::string length = little_endian(static_cast<std::uint64_t>(record.size()));
  std::string framed = length + little_endian(masked_crc32c(length));
  framed += record;
  framed += little_endian(masked_crc32c(record));
  file_.append(framed);
}

}  // namespace pagoda
