#pragma once

#include <cstdint>
#include <string_view>

namespace pagoda {

/// The CRC-32C (Castagnoli) of the bytes, as in RFC 3720.
std::uint32_t crc32c(std::string_view bytes);

/// The same, rotated and shifted by a constant as TFRecord files hold it: the checksum of bytes
/// that contain their own checksum says little.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace pagoda
