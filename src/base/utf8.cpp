#include <pagoda/base/utf8.h>

#include <cstddef>

namespace pagoda {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Range {
  unsigned char from;
  unsigned char to;
};

/// Length that the first byte announces; 0 if no character starts with it.
std::size_t announced_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

/// What may follow the first byte: no longer form than needed, no surrogate, nothing above
/// U+10FFFF.
Range second_byte(unsigned char first) {
  if (first == 0xE0) return {0xA0, 0xBF};
  if (first == 0xED) return {0x80, 0x9F};
  if (first == 0xF0) return {0x90, 0xBF};
  if (first == 0xF4) return {0x80, 0x8F};
  return {0x80, 0xBF};
}

}  // namespace

std::size_t utf8_character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = announced_length(first);
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const Range range = i == 1 ? second_byte(first) : Range{0x80, 0xBF};
    if (byte < range.from || byte > range.to) return 0;
  }
  return length;
}

std::optional<std::size_t> find_bad_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_character_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_character_length(text);
    valid += length > 0 ? text.substr(0, length) : kReplacement;
    text.remove_prefix(length > 0 ? length : 1);
  }
  return valid;
}

std::vector<std::string_view> utf8_characters(std::string_view text) {
  std::vector<std::string_view> characters;
  for (std::size_t at = 0; at < text.size(); at += characters.back().size()) {
    characters.push_back(text.substr(at, utf8_character_length(text.substr(at))));
  }
  return characters;
}

char32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  char32_t code = first & (0x7Fu >> character.size());
  for (const char byte : character.substr(1)) {
    code = code << 6 | (static_cast<unsigned char>(byte) & 0x3Fu);
  }
  return code;
}

std::string utf8_of(char32_t code) {
  if (code < 0x80) return {static_cast<char>(code)};
  std::string tail;
  unsigned char mark = 0x80;  // the ones that announce the length, from the left
  char32_t space = 0x20;      // what the first byte has room for
  do {
    tail.insert(tail.begin(), static_cast<char>(0x80 | (code & 0x3F)));
    code >>= 6;
    mark = static_cast<unsigned char>(0x80 | mark >> 1);
    space = tail.size() == 1 ? 0x20 : space >> 1;
  } while (code >= space);
  return static_cast<char>(mark | code) + tail;
}

}  // namespace pagoda
