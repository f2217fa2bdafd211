#include <pagoda/base/byte_size.h>
#include <pagoda/base/error.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

namespace pagoda {
namespace {

std::optional<double> bytes_of_unit(std::string unit) {
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (unit.empty() || unit == "b") return 1;
  constexpr std::string_view kPrefixes = "kmgt";
  const auto power = kPrefixes.find(unit.front());
  if (power == std::string_view::npos) return std::nullopt;
  if (unit.substr(1) == "ib") return std::pow(1024.0, static_cast<double>(power + 1));
  if (unit.substr(1) == "b") return std::pow(1000.0, static_cast<double>(power + 1));
  return std::nullopt;
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (std::abs(value) >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::int64_t parse_bytes(std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  std::string unit;
  if (error == std::errc{}) {
    const char* begin = stopped;
    while (begin != end && *begin == ' ') ++begin;
    unit.assign(begin, end);
  }
  const auto scale = bytes_of_unit(unit);
  if (error != std::errc{} || !scale) {
    throw UsageError("'" + std::string(text) +
                     "' is not a size; write a number and a unit, such as 2GiB or 500MB");
  }
  const double bytes = number * *scale;
  if (!(bytes >= 1 && bytes < 0x1p63)) {
    throw UsageError("'" + std::string(text) + "' is not a possible size; it must be at least 1 B");
  }
  return static_cast<std::int64_t>(bytes);
}

}  // namespace pagoda
