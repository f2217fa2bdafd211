#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

// What Unicode says of a character (of valid UTF-8), as far as the system's C.UTF-8 locale knows
// it. The locale of the process does not matter. Threads: any.

bool is_space(std::string_view character);
bool is_punctuation(std::string_view character);
bool is_letter(std::string_view character);
bool is_digit(std::string_view character);  ///< 0 to 9

/// The text in lower case.
std::string lower_case(std::string_view text);

/// The words between white space, as views into the text.
std::vector<std::string_view> split_at_spaces(std::string_view text);

}  // namespace pagoda
