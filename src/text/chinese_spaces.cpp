#include <pagoda/base/utf8.h>
#include <pagoda/text/chinese_spaces.h>

#include "text/character_class.h"

namespace pagoda {
namespace {

/// Characters of writing without spaces.
bool is_wide(std::string_view character) {
  const char32_t code = code_point(character);
  return (code >= 0x2E80 && code <= 0x9FFF) ||    // radicals, punctuation, kana, ideographs
         (code >= 0xF900 && code <= 0xFAFF) ||    // compatibility ideographs
         (code >= 0xFF00 && code <= 0xFFEF) ||    // full-width forms
         (code >= 0x20000 && code <= 0x3FFFF) ||  // rarer ideographs
         (code >= 0x2018 && code <= 0x201D) || code == 0x2014 || code == 0x2026;  // quotes, — and …
}

}  // namespace

std::string without_chinese_spaces(std::string_view text) {
  std::string kept;
  std::string spaces;     // since the last character
  bool was_wide = false;  // that character
  for (const std::string_view character : utf8_characters(text)) {
    if (is_space(character)) {
      spaces += character;
      continue;
    }
    const bool wide = is_wide(character);
    if (!(was_wide && wide)) kept += spaces;
    kept += character;
    spaces.clear();
    was_wide = wide;
  }
  return kept + spaces;
}

}  // namespace pagoda
