#pragma once

// A tower that stays away longer than its group waits, and tells when it has come back.

#include <chrono>
#include <future>
#include <memory>

namespace pagoda::testing {

/// How long the group waits; a busy machine needs that for what is not late.
inline constexpr std::chrono::milliseconds kShortTimeout{1000};

/// Something that a piece of work keeps; whoever uses it after its end finds out.
class Kept {
 public:
  Kept() = default;
  Kept(const Kept& other) : alive_(other.alive_) {}
  Kept& operator=(const Kept&) = default;
  ~Kept() { alive_ = false; }
  bool alive() const { return alive_; }

 private:
  volatile bool alive_ = true;
};

/// Shared by a test and the work that is late.
class LateWork {
 public:
  /// In the late tower's thread: waits for `release`.
  void stay_away() const { released_.wait(); }
  /// In the same thread, at the end of what is to be seen.
  void come_back(bool all_was_there) { came_back_.set_value(all_was_there); }

  void release() { release_.set_value(); }
  /// What the tower told when it came back; false if it never does.
  bool all_was_there() {
    auto told = came_back_.get_future();
    return told.wait_for(std::chrono::minutes(1)) == std::future_status::ready && told.get();
  }

 private:
  std::promise<void> release_;
  std::shared_future<void> released_ = release_.get_future().share();
  std::promise<bool> came_back_;
};

}  // namespace pagoda::testing
