#pragma once

#include <string>
#include <string_view>

namespace pagoda {

/// Checks the CRC-32 of every entry of a zip archive, which LibTorch's readers do not: a flipped
/// bit in a tensor would load as another number.
///
/// `name` stands in messages. Entries must be stored uncompressed, as LibTorch writes them.
/// Fails: DataError that names the archive and the damaged entry.
void check_zip(std::string_view bytes, const std::string& name);

}  // namespace pagoda
