#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/run/interval.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace pagoda {

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
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, interval.count);
  interval.epochs = error == std::errc{} && end - stopped == 1 && *stopped == 'e';
  const bool is_complete = error == std::errc{} && (interval.epochs || stopped == end);
  const bool is_whole = interval.epochs || interval.count == std::floor(interval.count);
  if (!is_complete || !is_whole || !(interval.count >= 0 && interval.count < 1e15)) {
    throw UsageError("'" + text +
                     "' is not an interval; give steps (500) or epochs with the suffix e (2e)");
  }
  return interval;
}

std::string interval_text(const Interval& interval) {
  return number_text(interval.count) + (interval.epochs ? "e" : "");
}

StepRange parse_steps(const std::string& text) {
  StepRange steps;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, steps.first);
  const bool has_colon = first.ec == std::errc{} && first.ptr != end && *first.ptr == ':';
  const auto last = has_colon ? std::from_chars(first.ptr + 1, end, steps.last) : first;
  if (!has_colon || last.ec != std::errc{} || last.ptr != end || steps.first < 1 ||
      steps.last < steps.first) {
    throw UsageError("'" + text +
                     "' is not a range of steps; give the first and the last, such as 11:15");
  }
  return steps;
}

std::string steps_text(const StepRange& steps) {
  return std::to_string(steps.first) + ":" + std::to_string(steps.last);
}

}  // namespace pagoda
