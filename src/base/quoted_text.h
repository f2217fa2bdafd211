#pragma once

#include <string>
#include <string_view>

namespace pagoda {

/// Text of unknown origin for a message of one line: 'like this', control characters as \x1b, and
/// only the beginning of what is long.
std::string quoted_text(std::string_view text);

}  // namespace pagoda
