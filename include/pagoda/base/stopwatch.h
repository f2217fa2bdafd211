#pragma once

#include <chrono>
#include <utility>

namespace pagoda {

/// Measures how long something takes, with a monotonic clock.
///
/// Example:
///     const Stopwatch watch;
///     load();
///     waited += watch.seconds();
class Stopwatch {
 public:
  /// Seconds since construction or the last restart, without those left out since.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  /// Starts again from 0.
  void restart() { begin_ = Clock::now(); }

  /// Excludes this many of the seconds that have passed.
  void leave_out(double seconds) {
    begin_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin_ = Clock::now();
};

/// Runs the work and returns how many seconds it took.
template <class Work>
double seconds_of(Work&& work) {
  const Stopwatch watch;
  std::forward<Work>(work)();
  return watch.seconds();
}

}  // namespace pagoda
