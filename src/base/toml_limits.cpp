#include "base/toml_limits.h"

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

bool is_word_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '+' || c == '-' || c == '.' || c == ':';
}

/// A name or a value without quotation marks, which begins here; empty if none does.
std::string_view word_at(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && is_word_character(text[end])) ++end;
  return text.substr(begin, end - begin);
}

/// 2020-01-01 or 12:30, not 1e-3.
bool is_date_or_time(std::string_view word) {
  if (word.empty() || word.front() < '+' || word.front() > '9') return false;
  for (std::size_t i = 1; i < word.size(); ++i) {
    const bool after_exponent = word[i - 1] == 'e' || word[i - 1] == 'E';
    if (word[i] == ':' || (word[i] == '-' && !after_exponent)) return true;
  }
  return false;
}

/// How deep lists, tables and names are.
class Nesting {
 public:
  /// Counts what is no word; whether it is too deep now.
  bool is_too_deep_after(char c) {
    if (c == '[' || c == '{') ++brackets_;
    if (c == ']' || c == '}') --brackets_;
    if (std::string_view("[]{}=,\n").find(c) != std::string_view::npos) dots_ = 0;
    return brackets_ > kMostTomlNesting;
  }
  bool is_too_deep_after(std::string_view word) {
    dots_ += std::count(word.begin(), word.end(), '.');
    return dots_ > kMostTomlNesting;
  }

 private:
  int brackets_ = 0;         // that are open
  std::ptrdiff_t dots_ = 0;  // of one name
};

}  // namespace

std::optional<TomlProblem> find_beyond_limits(std::string_view text) {
  const std::string deep =
      "lists, tables or names are nested more than " + std::to_string(kMostTomlNesting) + " deep";
  Nesting nesting;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::string_view word = word_at(text, at);
    if (c == '"' || c == '\'') {
      at = end_of_string(text, at);
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      return TomlProblem{at, "this character must stand in quotation marks"};
    } else if (is_date_or_time(word)) {
      return TomlProblem{
          at, std::string(word) + " is a date or a time, which must stand in quotation marks"};
    } else if (word.empty() ? nesting.is_too_deep_after(c) : nesting.is_too_deep_after(word)) {
      return TomlProblem{at, deep};
    } else {
      at += std::max<std::size_t>(1, word.size());
    }
  }
  return std::nullopt;
}

}  // namespace pagoda
