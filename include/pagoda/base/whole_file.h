#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// All bytes of a regular file, or of a pipe of at most 1 GiB. Fails: IoError with the path and the
/// reason; also for a directory or a device, and for a pipe that nobody opens for writing within 10
/// seconds.
std::vector<char> read_bytes(const std::filesystem::path& path);

/// The same, as a string.
std::string read_whole_file(const std::filesystem::path& path);

/// The same for a file that need not exist: nothing if it does not. Fails: IoError also when the
/// system does not tell whether it exists.
std::optional<std::string> read_file_if_any(const std::filesystem::path& path);

/// At most the first `most` bytes of a file, or of a pipe that may never end. Fails: as read_bytes.
std::string read_file_start(const std::filesystem::path& path, std::size_t most);

}  // namespace pagoda
