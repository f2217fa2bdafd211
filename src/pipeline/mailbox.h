#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <queue>
#include <utility>

namespace pagoda {

/// What one stage leaves for another, in order. A wait ends by a letter or because the box was
/// closed.
///
/// Threads: one puts, one takes, any closes.
template <class Letter>
class Mailbox {
 public:
  void put(Letter letter) {
    {
      std::lock_guard lock(mutex_);
      letters_.push(std::move(letter));
    }
    changed_.notify_one();
  }

  /// Nothing once the box is closed.
  std::optional<Letter> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !letters_.empty(); });
    if (closed_) return std::nullopt;
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
