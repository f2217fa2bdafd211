#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// The length in bytes of the UTF-8 character (RFC 3629) with which the text, which must not be
/// empty, starts; 0 if it does not start with a valid one.
std::size_t utf8_character_length(std::string_view text);

/// The offset of the first byte that is not part of valid UTF-8; nothing if there is none.
std::optional<std::size_t> find_bad_utf8(std::string_view text);

/// The text with each byte that is not part of valid UTF-8 replaced by U+FFFD. (Invalid UTF-8 in a
/// protobuf text field makes TensorBoard stop at that event.)
std::string valid_utf8(std::string_view text);

/// The characters of valid UTF-8 text, as views into it.
std::vector<std::string_view> utf8_characters(std::string_view text);

/// The code point of one valid character, such as those from `utf8_characters`.
char32_t code_point(std::string_view character);
/// The UTF-8 bytes of a code point.
std::string utf8_of(char32_t code_point);

}  // namespace pagoda
