#include <pagoda/base/grouped_number.h>
#include <pagoda/data/data_input.h>

#include <cstdio>

#include <zlib.h>

namespace pagoda {

std::string DataInput::content_text() const {
  char sum[16];
  std::snprintf(sum, sizeof sum, "%08x", crc32);
  return grouped(static_cast<double>(bytes)) + " bytes, CRC-32 " + sum;
}

void add_content(DataInput& input, std::span<const std::uint8_t> part) {
  input.bytes += static_cast<std::int64_t>(part.size());
  input.crc32 = static_cast<std::uint32_t>(crc32_z(input.crc32, part.data(), part.size()));
}

void add_content(DataInput& input, std::string_view part) {
  add_content(input, {reinterpret_cast<const std::uint8_t*>(part.data()), part.size()});
}

}  // namespace pagoda
