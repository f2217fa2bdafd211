#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace pagoda {

/// All bytes of a regular file, or of a pipe up to 1 GiB. Fails: IoError with its path and the
/// reason; also for a device, and for a pipe that nobody opens for writing within seconds.
std::vector<char> read_bytes(const std::filesystem::path& path);

/// The same as text.
std::string read_whole_file(const std::filesystem::path& path);

/// No more than its first `most` bytes, of what may have no end. Fails: IoError.
std::string read_file_start(const std::filesystem::path& path, std::size_t most);

}  // namespace pagoda
