#include <pagoda/base/error.h>
#include <pagoda/text/builtin_pairs.h>

#include <array>
#include <chrono>
#include <numeric>

#include "text/spelled_number.h"

namespace pagoda {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::int64_t kNumbers = 200'000;
constexpr auto kFirstDay = std::chrono::sys_days(std::chrono::year(1800) / 1 / 1);
constexpr std::int64_t kDays =
    (std::chrono::sys_days(std::chrono::year(2100) / 1 / 1) - kFirstDay).count();
constexpr std::int64_t kMinutes = 24 * 60;
static_assert(kNumbers + kDays + kMinutes == kBuiltinPairs);

// Near the golden section of all pairs, so that neighbours in the order have little in common.
constexpr std::int64_t kStride = 192'217;
static_assert(std::gcd(kStride, kBuiltinPairs) == 1, "each pair comes up once");
constexpr std::int64_t kHeldOut = 50;

BuiltinPair number_pair(std::int64_t number) {
  return {english_number(static_cast<int>(number)), french_number(static_cast<int>(number))};
}

BuiltinPair day_pair(std::int64_t day) {
  constexpr std::array kEnglishDays = {"Sunday"sv,   "Monday"sv, "Tuesday"sv, "Wednesday"sv,
                                       "Thursday"sv, "Friday"sv, "Saturday"sv};
  constexpr std::array kFrenchDays = {"dimanche"sv, "lundi"sv,    "mardi"sv, "mercredi"sv,
                                      "jeudi"sv,    "vendredi"sv, "samedi"sv};
  constexpr std::array kEnglishMonths = {"January"sv,   "February"sv, "March"sv,    "April"sv,
                                         "May"sv,       "June"sv,     "July"sv,     "August"sv,
                                         "September"sv, "October"sv,  "November"sv, "December"sv};
  constexpr std::array kFrenchMonths = {"janvier"sv,   "février"sv, "mars"sv,     "avril"sv,
                                        "mai"sv,       "juin"sv,    "juillet"sv,  "août"sv,
                                        "septembre"sv, "octobre"sv, "novembre"sv, "décembre"sv};
  const auto point = kFirstDay + std::chrono::days(day);
  const std::chrono::year_month_day date(point);
  const std::size_t weekday = std::chrono::weekday(point).c_encoding();
  const std::size_t month = static_cast<unsigned>(date.month()) - 1;
  const int number = static_cast<int>(static_cast<unsigned>(date.day()));
  const int year = static_cast<int>(date.year());
  return {std::string(kEnglishDays[weekday]) + " the " + english_ordinal(number) + " of " +
              std::string(kEnglishMonths[month]) + " " + english_year(year),
          std::string(kFrenchDays[weekday]) + " " +
              (number == 1 ? "premier" : french_number(number)) + " " +
              std::string(kFrenchMonths[month]) + " " + french_number(year)};
}

/// The hour by name, and the part of the day where the name leaves it open.
struct SpelledHour {
  BuiltinPair name;
  BuiltinPair part;
};

SpelledHour spelled_hour(int hour, int hour_of_day) {
  if (hour % 24 == 0) return {{"midnight", "minuit"}, {}};
  if (hour == 12) return {{"noon", "midi"}, {}};
  const BuiltinPair part = hour_of_day < 12   ? BuiltinPair{" in the morning", " du matin"}
                           : hour_of_day < 18 ? BuiltinPair{" in the afternoon", " de l'après-midi"}
                                              : BuiltinPair{" in the evening", " du soir"};
  const int on_clock = hour % 12;
  return {{english_number(on_clock),
           french_feminine(on_clock) + (on_clock == 1 ? " heure" : " heures")},
          part};
}

std::string english_minutes(int count) {
  if (count == 15) return "a quarter";
  if (count == 30) return "half";
  return english_number(count) + (count % 5 == 0 ? "" : count == 1 ? " minute" : " minutes");
}

BuiltinPair time_pair(std::int64_t minute_of_day) {
  const int hour = static_cast<int>(minute_of_day / 60);
  const int minute = static_cast<int>(minute_of_day % 60);
  const bool before = minute > 30;  // counted back from the next hour
  const int count = before ? 60 - minute : minute;
  const auto [name, part] = spelled_hour(hour + (before ? 1 : 0), hour);
  BuiltinPair pair = name;
  if (count == 0) {
    if (!part.english.empty()) pair.english += " o'clock";
  } else {
    pair.english = english_minutes(count) + (before ? " to " : " past ") + name.english;
    const bool masculine = name.french == "midi" || name.french == "minuit";
    pair.french += before && count == 15 ? " moins le quart"
                   : before              ? " moins " + french_feminine(count)
                   : count == 15         ? " et quart"
                   : count == 30         ? (masculine ? " et demi" : " et demie")
                                         : " " + french_feminine(count);
  }
  return {pair.english + part.english, pair.french + part.french};
}

class BuiltinReader : public PairReader {
 public:
  BuiltinReader(BuiltinSplit split, std::int64_t max_pairs)
      : split_(split), max_pairs_(max_pairs) {}

  std::optional<TextPair> next() override {
    while (place_ < kBuiltinPairs && report_.pairs < max_pairs_) {
      const bool held_out = place_ % kHeldOut == 0;
      const std::int64_t number = place_++ * kStride % kBuiltinPairs;
      if (held_out != (split_ == BuiltinSplit::test)) continue;
      pair_ = builtin_pair(number);
      ++report_.pairs;
      add_content(input_, pair_.english + "\t" + pair_.french + "\n");
      return {{pair_.english, pair_.french}};
    }
    return std::nullopt;
  }

  std::vector<DataInput> inputs() const override { return {input_}; }

 private:
  const BuiltinSplit split_;
  const std::int64_t max_pairs_;
  std::int64_t place_ = 0;
  BuiltinPair pair_;
  DataInput input_{.role = "pairs", .name = "built-in pairs"};
};

}  // namespace

BuiltinPair builtin_pair(std::int64_t number) {
  if (number < 0 || number >= kBuiltinPairs) {
    throw UsageError("there is no built-in pair " + std::to_string(number) + "; they are 0 to " +
                     std::to_string(kBuiltinPairs - 1));
  }
  if (number < kNumbers) return number_pair(number);
  if (number < kNumbers + kDays) return day_pair(number - kNumbers);
  return time_pair(number - kNumbers - kDays);
}

std::unique_ptr<PairReader> open_builtin_pairs(BuiltinSplit split, std::int64_t max_pairs) {
  return std::make_unique<BuiltinReader>(split, max_pairs);
}

}  // namespace pagoda
