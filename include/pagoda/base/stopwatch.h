#pragma once

#include <chrono>
#include <utility>

namespace pagoda {

/// How long something takes, by a clock that is never set.
///
/// Example:
///     const Stopwatch watch;
///     load();
///     waited += watch.seconds();
class Stopwatch {
 public:
  /// Seconds since it was made or restarted, without what was left out since.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  /// Counts from now on.
  void restart() { begin_ = Clock::now(); }

  /// Does not count so many of the seconds that have passed.
  void leave_out(double seconds) {
    begin_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin_ = Clock::now();
};

/// Seconds that the work took.
template <class Work>
double seconds_of(Work&& work) {
  const Stopwatch watch;
  std::forward<Work>(work)();
  return watch.seconds();
}

}  // namespace pagoda
