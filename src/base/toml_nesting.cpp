#include "base/toml_nesting.h"

#include <algorithm>

namespace pagoda {
namespace {

/// The end of what begins with a quotation mark at `begin`; of text that has none, the end of its
/// line or of everything.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  const bool escapes = quote == '"';
  const std::string_view three = quote == '"' ? R"(""")" : "'''";
  const bool many_lines = text.substr(begin, 3) == three;
  std::size_t at = begin + (many_lines ? 3 : 1);
  while (at < text.size()) {
    if (escapes && text[at] == '\\') {
      at += 2;
    } else if (many_lines && text.substr(at, 3) == three) {
      return at + 3;
    } else if (!many_lines && text[at] == quote) {
      return at + 1;
    } else if (!many_lines && text[at] == '\n') {
      return at;
    } else {
      ++at;
    }
  }
  return text.size();
}

}  // namespace

std::optional<std::size_t> find_deep_nesting(std::string_view text) {
  int brackets = 0;  // that are open
  int dots = 0;      // of one name
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = end_of_string(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '[' || c == '{') ++brackets;
    if (c == ']' || c == '}') --brackets;
    if (c == '.') {
      ++dots;
    } else if (std::string_view("[]{}=,\n").find(c) != std::string_view::npos) {
      dots = 0;
    }
    if (brackets > kMostTomlNesting || dots > kMostTomlNesting) return at;
    ++at;
  }
  return std::nullopt;
}

}  // namespace pagoda
