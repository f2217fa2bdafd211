#pragma once

#include <pagoda/data/feed_plan.h>

#include <cstdint>
#include <string>
#include <utility>

namespace pagoda::app {

/// A number of steps, or of epochs with the suffix `e`: "500", "2e", "0.5e". 0 is never.
struct Interval {
  double count = 0;
  bool epochs = false;

  /// Whether it ends with step `step` (from 1), after which the run stands there in its data. Whole
  /// epochs end where the data's do, however many steps each has; parts of epochs are so many of an
  /// epoch's steps.
  bool is_due(std::int64_t step, const DataPosition& after, std::int64_t steps_per_epoch) const;
};

/// Fails: UsageError for anything else.
Interval parse_interval(const std::string& text);

/// "A:B", the steps from A to B, both included and counted from 1.
/// Fails: UsageError for anything else.
std::pair<std::int64_t, std::int64_t> parse_steps(const std::string& text);

}  // namespace pagoda::app
