#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Bytes of the character (RFC 3629) that the text, not empty, starts with; 0 if it starts with
/// none.
std::size_t utf8_character_length(std::string_view text);

/// Where the first byte stands that is not part of valid UTF-8; nothing if there is none.
std::optional<std::size_t> find_bad_utf8(std::string_view text);

/// The text with each byte that is not part of valid UTF-8 replaced by U+FFFD. Other bytes in a
/// text field of protobuf make TensorBoard stop at that event.
std::string valid_utf8(std::string_view text);

/// The characters of a valid text, as views into it.
std::vector<std::string_view> utf8_characters(std::string_view text);

/// The number of a character that `utf8_characters` gave, and the character of a number.
char32_t code_point(std::string_view character);
/// The bytes of a code point.
std::string utf8_of(char32_t code_point);

}  // namespace pagoda
