#include <pagoda/base/grouped_number.h>

#include <algorithm>
#include <cstdio>

namespace pagoda {

std::string grouped(double number, int decimals) {
  char digits[512];  // the largest double has 309 before the point
  std::snprintf(digits, sizeof digits, "%.*f", decimals, number);
  std::string text = digits;
  const std::size_t sign = text[0] == '-' ? 1 : 0;
  if (text[sign] < '0' || text[sign] > '9') return text;  // inf, nan
  std::size_t end = std::min(text.find('.'), text.size());
  while (end > sign + 3) {
    end -= 3;
    text.insert(end, 1, ',');
  }
  return text;
}

std::string counted(std::int64_t number, const std::string& thing) {
  const char* const plural = thing.ends_with('s') || thing.ends_with("ch") ? "es" : "s";
  return grouped(static_cast<double>(number)) + " " + thing + (number == 1 ? "" : plural);
}

}  // namespace pagoda
