#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace pagoda {

/// All bytes of a file. Fails: IoError with its path and the system's reason.
std::vector<char> read_bytes(const std::filesystem::path& path);

/// The same as text.
std::string read_whole_file(const std::filesystem::path& path);

}  // namespace pagoda
