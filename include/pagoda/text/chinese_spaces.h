#pragma once

#include <string>
#include <string_view>

namespace pagoda {

/// The text (valid UTF-8) without the white space between two Chinese or Japanese characters or
/// punctuation marks: "你好 ， 朋友" becomes "你好，朋友". White space next to other scripts stays.
std::string without_chinese_spaces(std::string_view text);

}  // namespace pagoda
