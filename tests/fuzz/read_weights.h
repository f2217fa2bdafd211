#pragma once

#include <filesystem>
#include <string>

namespace pagoda::fuzz {

/// What read_checkpoint makes of a file, as text.
std::string read_as_checkpoint(const std::filesystem::path& file);

/// What load_state_dict makes of a file, as text, for a small model: float weight [3, 2], float
/// bias [2] and a whole number `steps`.
std::string read_as_state_dict(const std::filesystem::path& file);

}  // namespace pagoda::fuzz
