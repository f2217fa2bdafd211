#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pagoda::fuzz {

/// A zip archive of these entries, name and content, uncompressed and with right checksums: what
/// somebody writes who means harm.
std::string stored_zip(const std::vector<std::pair<std::string, std::string_view>>& entries);

}  // namespace pagoda::fuzz
