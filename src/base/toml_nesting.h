#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace pagoda {

/// The deepest that lists, tables and names such as a.b.c may be nested.
inline constexpr int kMostTomlNesting = 16;

/// Where a TOML text is nested deeper than that, as an offset; nothing if it is not. Whoever takes
/// a text apart by recursion asks this first.
std::optional<std::size_t> find_deep_nesting(std::string_view text);

}  // namespace pagoda
