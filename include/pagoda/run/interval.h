#pragma once

#include <pagoda/base/data_position.h>

#include <cstdint>
#include <string>

namespace pagoda {

/// How often something is done in a run: every so many steps or epochs. 0 means never.
///
/// Example: `RunOptions{.valid_every = every_epochs(0.5), .save_every = every_steps(500)}`
struct Interval {
  double count = 0;     ///< number of steps or epochs
  bool epochs = false;  ///< whether `count` is in epochs

  /// Whether it is due after step `step` (counted from 1), at position `after` in the data. Whole
  /// epochs are due where an epoch of the data ends, however many steps it has; a fraction of an
  /// epoch is that fraction of `steps_per_epoch`, in whole steps.
  bool is_due(std::int64_t step, const DataPosition& after, std::int64_t steps_per_epoch) const;

  bool operator==(const Interval&) const = default;
};

/// An interval of steps.
constexpr Interval every_steps(std::int64_t steps) {
  return {.count = static_cast<double>(steps), .epochs = false};
}
/// An interval of epochs, or of a fraction of one.
constexpr Interval every_epochs(double epochs) { return {.count = epochs, .epochs = true}; }

/// Reads "500" (steps), "2e" or "0.5e" (epochs). Fails: UsageError for anything else.
Interval parse_interval(const std::string& text);

/// The interval as `parse_interval` reads it.
std::string interval_text(const Interval& interval);

/// A range of steps, first and last included.
struct StepRange {
  std::int64_t first = 1;  ///< counted from 1
  std::int64_t last = 1;   ///< counted from 1

  bool operator==(const StepRange&) const = default;
};

/// Reads "11:15". Fails: UsageError for anything else.
StepRange parse_steps(const std::string& text);

/// The range as `parse_steps` reads it.
std::string steps_text(const StepRange& steps);

}  // namespace pagoda
