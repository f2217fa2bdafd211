#pragma once

#include <filesystem>
#include <string>

namespace pagoda {

/// Where a file or folder that comes with Pagoda lies: `share/pagoda/NAME` beside the folder of the
/// program if it is there, as after `cmake --install`, and otherwise `in_build`.
std::filesystem::path installed_data(const std::string& name, const std::filesystem::path& in_build,
                                     const std::filesystem::path& program = "/proc/self/exe");

}  // namespace pagoda
