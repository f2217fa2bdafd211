#include "text/character_class.h"

#include <pagoda/base/error.h>
#include <pagoda/base/utf8.h>

#include <clocale>
#include <cwctype>
#include <locale.h>

namespace pagoda {
namespace {

locale_t unicode_locale() {
  static const locale_t locale = [] {
    const locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (made == nullptr) {
      throw UsageError("this system has no locale C.UTF-8, which text needs; install its locales");
    }
    return made;
  }();
  return locale;
}

wint_t wide(std::string_view character) { return static_cast<wint_t>(code_point(character)); }

}  // namespace

bool is_space(std::string_view character) {
  const char32_t code = code_point(character);
  // The no-break spaces, which the C library does not count.
  return code == 0xA0 || code == 0x2007 || code == 0x202F ||
         iswspace_l(static_cast<wint_t>(code), unicode_locale()) != 0;
}

bool is_punctuation(std::string_view character) {
  return iswpunct_l(wide(character), unicode_locale()) != 0;
}

bool is_letter(std::string_view character) {
  return iswalpha_l(wide(character), unicode_locale()) != 0 && !is_digit(character);
}

bool is_digit(std::string_view character) {
  return character.size() == 1 && character[0] >= '0' && character[0] <= '9';
}

std::string lower_case(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for (const std::string_view character : utf8_characters(text)) {
    const wint_t code = wide(character);
    const wint_t changed = towlower_l(code, unicode_locale());
    lower += changed == code ? std::string(character) : utf8_of(static_cast<char32_t>(changed));
  }
  return lower;
}

std::vector<std::string_view> split_at_spaces(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  std::size_t at = 0;
  const auto end_word = [&] {
    if (at > begin) words.push_back(text.substr(begin, at - begin));
  };
  for (const std::string_view character : utf8_characters(text)) {
    if (is_space(character)) {
      end_word();
      begin = at + character.size();
    }
    at += character.size();
  }
  end_word();
  return words;
}

}  // namespace pagoda
