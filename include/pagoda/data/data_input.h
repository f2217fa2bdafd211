#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pagoda {

/// Describes what was read from a file or another source of data, well enough to tell later whether
/// it is still the same.
struct DataInput {
  std::string role = {};    ///< what it is used for, such as "train"
  std::string name = {};    ///< the path of a file, or another name
  std::int64_t bytes = 0;   ///< size of the content; of compressed text, uncompressed
  std::uint32_t crc32 = 0;  ///< CRC-32 of the same bytes, as zlib computes it

  /// "30,730,000 bytes, CRC-32 1a2b3c4d".
  std::string content_text() const;
};

/// Adds the next part of the content to `bytes` and `crc32`.
void add_content(DataInput& input, std::span<const std::uint8_t> part);
/// The same for text.
void add_content(DataInput& input, std::string_view part);

}  // namespace pagoda
