#include <pagoda/base/number_text.h>

#include <charconv>
#include <cmath>

namespace pagoda {

std::string number_text(double number) {
  // Outside of these, zeros would have to be counted.
  constexpr double kLeast = 1e-4;
  constexpr double kMost = 1e15;
  const double size = std::abs(number);
  const bool fixed = size == 0 || (size >= kLeast && size < kMost);
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number,
                                 fixed ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  return {digits, end};
}

}  // namespace pagoda
