#pragma once

#include <cstdint>
#include <filesystem>

namespace pagoda {

/// Compares the CRC-32 of a data file with what `crc32.txt` in its directory says of it. That list
/// has a line for each data file, its CRC-32 in eight hexadecimal digits, a blank and its name;
/// `pagoda data` writes it. Without it, or without a line for this file, nothing is checked.
///
/// Fails: DataError that names the file when it has another one, or when `crc32.txt` has a line of
/// another form.
void check_against_checksum(const std::filesystem::path& file, std::uint32_t crc32);

}  // namespace pagoda
