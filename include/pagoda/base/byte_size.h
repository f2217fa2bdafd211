#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pagoda {

/// "23.6 GiB", "512 B": for messages and tables.
std::string bytes_text(std::int64_t bytes);

/// The number of bytes that a text names: "2GiB", "1.5 GiB", "500MB", "1048576". Units are B, KiB,
/// MiB, GiB, TiB (powers of 1,024) and KB, MB, GB, TB (powers of 1,000), in upper or lower case.
/// Fails: UsageError for text that is not a size, an unknown unit, or a size below 1 byte or too
/// large for 64 bits.
std::int64_t parse_bytes(std::string_view text);

}  // namespace pagoda
