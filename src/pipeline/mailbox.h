#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <queue>
#include <utility>

namespace pagoda {

/// What one stage leaves for another, in order. Every wait ends: by a letter, the deadline, or
/// because the box was closed.
///
/// Threads: one puts, one takes, any closes.
template <class Letter>
class Mailbox {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  void put(Letter letter) {
    {
      std::lock_guard lock(mutex_);
      letters_.push(std::move(letter));
    }
    changed_.notify_one();
  }

  /// Nothing once the box is closed or the deadline has passed.
  std::optional<Letter> take(Deadline deadline) {
    std::unique_lock lock(mutex_);
    const bool is_in_time =
        changed_.wait_until(lock, deadline, [this] { return closed_ || !letters_.empty(); });
    if (!is_in_time || closed_) return std::nullopt;
    Letter letter = std::move(letters_.front());
    letters_.pop();
    return letter;
  }

  void close() {
    {
      std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<Letter> letters_;  // guarded by mutex_, as is the next
  bool closed_ = false;
};

}  // namespace pagoda
