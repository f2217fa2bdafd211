#pragma once

#include <filesystem>
#include <string>

namespace pagoda {

/// All bytes of a file. Fails: IoError with its path.
std::string read_whole_file(const std::filesystem::path& path);

}  // namespace pagoda
