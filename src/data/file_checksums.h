#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace pagoda {

/// Compares the bytes of a data file with what `crc32.txt` in its directory says of it. That file
/// has a line for each data file, its CRC-32 in eight hexadecimal digits, a blank and its name;
/// `pagoda data` writes it. Without it, or without a line for this file, nothing is checked.
///
/// Fails: DataError that names the file when the bytes are others, or when `crc32.txt` has a line
/// of another form.
void check_against_checksum(const std::filesystem::path& file, std::span<const std::uint8_t> bytes);

}  // namespace pagoda
