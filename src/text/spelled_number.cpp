#include "text/spelled_number.h"

#include <array>
#include <string_view>

namespace pagoda {
namespace {

constexpr std::array<std::string_view, 20> kEnglish = {
    "zero",     "one",     "two",     "three",     "four",     "five",    "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kEnglishTens = {
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::array<std::string_view, 20> kFrench = {
    "zéro",     "un",     "deux",  "trois",    "quatre",   "cinq",    "six",
    "sept",     "huit",   "neuf",  "dix",      "onze",     "douze",   "treize",
    "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf"};
constexpr std::array<std::string_view, 7> kFrenchTens = {
    "", "", "vingt", "trente", "quarante", "cinquante", "soixante"};

std::string word(std::string_view text) { return std::string(text); }

std::string english_below_hundred(int number) {
  if (number < 20) return word(kEnglish[static_cast<std::size_t>(number)]);
  std::string text = word(kEnglishTens[static_cast<std::size_t>(number / 10)]);
  if (number % 10 > 0) text += "-" + english_below_hundred(number % 10);
  return text;
}

std::string english_below_thousand(int number) {
  if (number < 100) return english_below_hundred(number);
  std::string text = english_below_hundred(number / 100) + " hundred";
  if (number % 100 > 0) text += " and " + english_below_hundred(number % 100);
  return text;
}

/// `last`: nothing follows, so that eighty has its s.
std::string french_below_hundred(int number, bool last) {
  if (number < 20) return word(kFrench[static_cast<std::size_t>(number)]);
  if (number == 80) return last ? "quatre-vingts" : "quatre-vingt";
  if (number > 80) return "quatre-vingt-" + french_below_hundred(number - 80, last);
  // 70 to 79 count on from 60.
  const int tens = number >= 60 ? 60 : number / 10 * 10;
  std::string text = word(kFrenchTens[static_cast<std::size_t>(tens / 10)]);
  if (number == tens) return text;
  const int rest = number - tens;
  text += rest % 10 == 1 ? " et " : "-";
  return text + french_below_hundred(rest, last);
}

std::string french_below_thousand(int number, bool last) {
  if (number < 100) return french_below_hundred(number, last);
  const int hundreds = number / 100;
  const int rest = number % 100;
  std::string text = hundreds > 1 ? french_below_hundred(hundreds, false) + " cent" : "cent";
  if (rest > 0) return text + " " + french_below_hundred(rest, last);
  return hundreds > 1 && last ? text + "s" : text;
}

}  // namespace

std::string english_number(int number) {
  if (number < 1000) return english_below_thousand(number);
  std::string text = english_below_thousand(number / 1000) + " thousand";
  const int rest = number % 1000;
  if (rest > 0) text += (rest < 100 ? " and " : " ") + english_below_thousand(rest);
  return text;
}

std::string english_ordinal(int number) {
  constexpr std::array<std::string_view, 13> kIrregular = {
      "", "first", "second", "third", "", "fifth", "", "", "eighth", "ninth", "", "", "twelfth"};
  if (number > 20 && number % 10 > 0) {
    return word(kEnglishTens[static_cast<std::size_t>(number / 10)]) + "-" +
           english_ordinal(number % 10);
  }
  if (number < 13 && !kIrregular[static_cast<std::size_t>(number)].empty()) {
    return word(kIrregular[static_cast<std::size_t>(number)]);
  }
  std::string text = english_number(number);
  if (text.back() == 'y') text.replace(text.size() - 1, 1, "ie");
  return text + "th";
}

std::string english_year(int year) {
  const int century = year / 100;
  const int rest = year % 100;
  if (year >= 2000 && year < 2010) return english_number(year);
  if (rest == 0) return english_number(century) + " hundred";
  return english_number(century) + (rest < 10 ? " oh " : " ") + english_number(rest);
}

std::string french_number(int number) {
  if (number < 1000) return french_below_thousand(number, true);
  const int thousands = number / 1000;
  std::string text = thousands > 1 ? french_below_thousand(thousands, false) + " mille" : "mille";
  if (number % 1000 > 0) text += " " + french_below_thousand(number % 1000, true);
  return text;
}

std::string french_feminine(int number) {
  const std::string text = french_number(number);
  const bool ends_in_one =
      number % 10 == 1 && number % 100 != 11 && number % 100 != 71 && number % 100 != 91;
  return ends_in_one ? text + "e" : text;
}

}  // namespace pagoda
