#pragma once

#include <string>

namespace pagoda {

// Numbers from 0 to 999,999 in words.

std::string english_number(int number);   ///< British: "two thousand and five"
std::string english_ordinal(int number);  ///< 1 to 31: "twenty-first"
std::string english_year(int year);       ///< 1100 to 2099: "nineteen oh five"
std::string french_number(int number);    ///< "quatre-vingts", "deux cent un"
std::string french_feminine(int number);  ///< "vingt et une"

}  // namespace pagoda
