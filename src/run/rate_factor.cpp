#include "run/rate_factor.h"

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>

#include <charconv>
#include <cmath>

namespace pagoda {

RateFactor parse_rate_factor(const std::string& text) {
  const std::size_t sign = text.rfind('=');
  RateFactor factor;
  if (sign != std::string::npos && sign > 0) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + sign + 1, end, factor.factor);
    if (error == std::errc{} && stop == end && std::isfinite(factor.factor) && factor.factor >= 0) {
      factor.names = text.substr(0, sign);
      return factor;
    }
  }
  throw UsageError("'" + text +
                   "' is not a pattern of names and a factor from 0 on, such as head.*=10");
}

std::string rate_factor_text(const RateFactor& factor) {
  return factor.names + "=" + number_text(factor.factor);
}

std::string parse_names(const std::string& text) {
  if (text.empty()) throw UsageError("the names of parameters are empty; give some, as head.*");
  return text;
}

}  // namespace pagoda
