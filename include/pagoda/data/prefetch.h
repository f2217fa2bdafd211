#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace pagoda {

/// Lowers the calling thread's priority, so that towers on the same cores go first.
void stand_back();

/// Calls `make(0)`, `make(1)`, … on threads of its own, a bounded number ahead, and hands the
/// results over in order. `make` returns nothing at the end, and must be a pure function of its
/// number.
///
/// Threads: one consumer calls next. Fails: what make(i) throws comes out of the i-th next.
template <class Item>
class Prefetch {
 public:
  using Make = std::function<std::optional<Item>(std::int64_t)>;

  Prefetch(Make make, int threads, int ahead) : make_(std::move(make)), ahead_(ahead) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }

  ~Prefetch() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  /// The next item; nothing after the last.
  std::optional<Item> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_.contains(taken_); });
    auto entry = ready_.extract(taken_);
    if (entry.mapped().error) {
      ready_.insert(std::move(entry));  // stays: asking again gives the same error
      std::rethrow_exception(ready_.at(taken_).error);
    }
    if (!entry.mapped().item) {
      ready_.insert(std::move(entry));
      return std::nullopt;
    }
    ++taken_;
    lock.unlock();
    changed_.notify_all();
    return std::move(entry.mapped().item);
  }

  /// Whether `next` would return at once.
  bool is_ready() const {
    std::lock_guard lock(mutex_);
    return ready_.contains(taken_);
  }

 private:
  struct Result {
    std::optional<Item> item;
    std::exception_ptr error;
  };

  void work() {
    stand_back();
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stop_ || (!ended_ && begun_ < taken_ + ahead_); });
      if (stop_) return;
      const std::int64_t number = begun_++;
      lock.unlock();
      Result result = made(number);
      lock.lock();
      ended_ = ended_ || !result.item;
      ready_.emplace(number, std::move(result));
      changed_.notify_all();
    }
  }

  Result made(std::int64_t number) {
    try {
      return {make_(number), nullptr};
    } catch (...) {
      return {std::nullopt, std::current_exception()};
    }
  }

  // Constant after construction.
  const Make make_;
  const std::int64_t ahead_;

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, Result> ready_;
  std::int64_t begun_ = 0;  // numbers that a thread has begun to make
  std::int64_t taken_ = 0;  // items handed over
  bool ended_ = false;
  bool stop_ = false;

  std::vector<std::thread> threads_;  // last: it uses the members above
};

}  // namespace pagoda
