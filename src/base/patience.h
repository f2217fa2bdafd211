#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace pagoda {

/// How long to wait for something in all. The time in which the process is suspended (Ctrl-Z, a batch
/// system that makes room for another job) does not count: whoever was awaited was suspended, too.
///
/// Threads: one at a time; each waiter has its own.
///
/// Example:
///     Patience patience(options.timeout);
///     if (!patience.wait(changed_, lock, [this] { return !free_.empty(); })) report_late();
class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  /// A single wait lasts an eighth of the limit, and at most `longest`.
  explicit Patience(Clock::duration limit, Clock::duration longest = std::chrono::seconds(1))
      : left_(limit), slice_(std::min(longest, limit / 8)) {}

  /// Waits for a notification, or wakes without one, as condition variables do. False, at once, when
  /// the time has been used up.
  bool wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock) {
    if (left_ <= Clock::duration::zero()) return false;
    const auto begin = Clock::now();
    changed.wait_for(lock, slice_);
    spend(Clock::now() - begin);
    return true;
  }

  /// Waits until `done()`. False when the time is used up before.
  template <class Done>
  bool wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Done done) {
    while (!done()) {
      if (!wait(changed, lock)) return false;
    }
    return true;
  }

  /// Takes off what one wait took, but no more than it can take unless the process was suspended.
  void spend(Clock::duration passed) { left_ -= std::min(passed, slice_); }

  /// What is left of the limit.
  Clock::duration left() const { return left_; }

 private:
  Clock::duration left_;
  const Clock::duration slice_;
};

}  // namespace pagoda
