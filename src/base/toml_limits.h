#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pagoda {

/// The deepest that lists, tables and names such as a.b.c may be nested.
inline constexpr int kMostTomlNesting = 16;

/// What is wrong with a text, and at which byte.
struct TomlProblem {
  std::size_t offset = 0;
  std::string what;
};

/// The first place in a TOML text that toml++ is not to be given: it takes nested text apart by
/// recursion, and relies on what it has not checked at dates and at characters beyond ASCII outside
/// of quotation marks (which TOML does not allow there). The text must be UTF-8.
std::optional<TomlProblem> find_beyond_limits(std::string_view text);

}  // namespace pagoda
