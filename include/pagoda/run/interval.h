#pragma once

#include <pagoda/base/data_position.h>

#include <cstdint>
#include <string>

namespace pagoda {

/// How often something is done in a run: every so many steps, or epochs. 0 is never.
///
/// Example: `RunOptions{.valid_every = every_epochs(0.5), .save_every = every_steps(500)}`
struct Interval {
  double count = 0;     ///< so many steps or epochs
  bool epochs = false;  ///< whether `count` is of epochs

  /// Whether it ends with step `step` (from 1), after which the run stands there in its data. Whole
  /// epochs end where the data's do, however many steps each has; parts of epochs are so many of an
  /// epoch's steps.
  bool is_due(std::int64_t step, const DataPosition& after, std::int64_t steps_per_epoch) const;

  bool operator==(const Interval&) const = default;
};

/// An interval of steps.
constexpr Interval every_steps(std::int64_t steps) {
  return {.count = static_cast<double>(steps), .epochs = false};
}
/// An interval of epochs, or of parts of one.
constexpr Interval every_epochs(double epochs) { return {.count = epochs, .epochs = true}; }

/// Reads "500" (steps), "2e" or "0.5e" (epochs). Fails: UsageError for anything else.
Interval parse_interval(const std::string& text);

/// What `parse_interval` reads.
std::string interval_text(const Interval& interval);

/// The first and the last of some steps, counted from 1.
struct StepRange {
  std::int64_t first = 1;  ///< counted from 1
  std::int64_t last = 1;   ///< it is one of them

  bool operator==(const StepRange&) const = default;
};

/// Reads "11:15". Fails: UsageError for anything else.
StepRange parse_steps(const std::string& text);

/// What `parse_steps` reads.
std::string steps_text(const StepRange& steps);

}  // namespace pagoda
