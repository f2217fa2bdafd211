#include "flags/interval.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace pagoda::app {

bool Interval::is_due(std::int64_t step, const DataPosition& after,
                      std::int64_t steps_per_epoch) const {
  if (count == 0) return false;
  if (epochs && count == std::floor(count))
    return after.consumed == 0 && after.epoch % std::llround(count) == 0;
  const double steps = epochs ? count * static_cast<double>(steps_per_epoch) : count;
  return step % std::max<std::int64_t>(1, std::llround(steps)) == 0;
}

Interval parse_interval(const std::string& text) {
  Interval interval;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, interval.count);
  interval.epochs = end - stopped == 1 && *stopped == 'e';
  const bool whole = interval.epochs || interval.count == std::floor(interval.count);
  const bool complete = error == std::errc{} && (interval.epochs || stopped == end);
  if (!complete || !whole || !(interval.count >= 0 && interval.count < 1e15)) {
    throw UsageError("'" + text +
                     "' is not an interval; give steps (500) or epochs with the suffix e (2e)");
  }
  return interval;
}

std::pair<std::int64_t, std::int64_t> parse_steps(const std::string& text) {
  std::pair<std::int64_t, std::int64_t> steps;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, steps.first);
  const bool has_colon = first.ec == std::errc{} && first.ptr != end && *first.ptr == ':';
  const auto last = has_colon ? std::from_chars(first.ptr + 1, end, steps.second) : first;
  if (!has_colon || last.ec != std::errc{} || last.ptr != end || steps.first < 1 ||
      steps.second < steps.first) {
    throw UsageError("'" + text +
                     "' is not a range of steps; give the first and the last, such as 11:15");
  }
  return steps;
}

}  // namespace pagoda::app
