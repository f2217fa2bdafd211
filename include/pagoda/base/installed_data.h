#pragma once

#include <filesystem>
#include <string>

namespace pagoda {

/// The path of a file or folder that comes with Pagoda: `share/pagoda/NAME` beside the program's
/// folder if that exists, as after `cmake --install`; otherwise `in_build`.
std::filesystem::path installed_data(const std::string& name, const std::filesystem::path& in_build,
                                     const std::filesystem::path& program = "/proc/self/exe");

}  // namespace pagoda
