#include <pagoda/cli/number_checks.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace pagoda {

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const std::string range =
      "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  return CLI::Validator(
      [=](const std::string& text) -> std::string {
        std::uint64_t number = 0;
        const char* end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, number);
        if (error == std::errc{} && stopped == end && number >= least && number <= most) return "";
        return "'" + text + "' is not " + range;
      },
      "");
}

CLI::Validator count() { return whole_number(1, kMostCount); }

CLI::Validator count_or_none() { return whole_number(0, kMostCount); }

CLI::Validator finite_number() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        double number = 0;
        const bool fits = CLI::detail::lexical_cast(text, number) && std::isfinite(number);
        return fits ? "" : "'" + text + "' is not a finite number";
      },
      "");
}

CLI::Validator positive_seconds() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        double seconds = 0;
        const char* end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, seconds);
        const bool fits = error == std::errc{} && stopped == end && seconds > 0 && seconds < 1e9;
        return fits ? "" : "'" + text + "' is not a number of seconds above 0";
      },
      "");
}

CLI::Validator any_whole_number() {
  return whole_number(0, std::numeric_limits<std::uint64_t>::max());
}

}  // namespace pagoda
