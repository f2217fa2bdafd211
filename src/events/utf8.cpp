#include "events/utf8.h"

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

/// Bytes of the character that the text (not empty) starts with; 0 if it starts with none.
std::size_t character_length(std::string_view text) {
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

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    valid += length > 0 ? text.substr(0, length) : kReplacement;
    text.remove_prefix(length > 0 ? length : 1);
  }
  return valid;
}

}  // namespace pagoda
