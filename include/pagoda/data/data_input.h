#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pagoda {

/// What was read of a file, or of another source of data: enough to tell at another time whether it
/// is still the same.
struct DataInput {
  std::string role = {};    ///< what it is for, such as "train"
  std::string name = {};    ///< path of a file
  std::int64_t bytes = 0;   ///< of its content; of compressed text, without compression
  std::uint32_t crc32 = 0;  ///< of the same bytes, as zlib has it

  /// "30,730,000 bytes, CRC-32 1a2b3c4d".
  std::string content_text() const;
};

/// Counts what is read, in any number of parts, into `bytes` and `crc32`.
void add_content(DataInput& input, std::span<const std::uint8_t> part);
/// Counts more bytes of what was read in.
void add_content(DataInput& input, std::string_view part);

}  // namespace pagoda
