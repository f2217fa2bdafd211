#pragma once

#include <pagoda/base/start_thread.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace pagoda {

/// Lowers the priority of the calling thread, so that towers on the same cores go first.
void stand_back();

/// Calls `make(0)`, `make(1)`, … on its own threads, at most `ahead` items before they are needed,
/// and returns the results in order. `make` must be a pure function of its number, and returns
/// nothing after the last item.
///
/// Threads: one consumer; `make` is called by several threads at once. Owns: its threads.
/// Fails: what make(i) throws, `next` throws in place of item i, and again if it is called again;
/// DeviceError when a thread cannot be started.
template <class Item>
class Prefetch {
 public:
  /// Makes item `number`; nothing after the last.
  using Make = std::function<std::optional<Item>(std::int64_t)>;

  Prefetch(Make make, int threads, int ahead) : make_(std::move(make)), ahead_(ahead) {
    threads_.reserve(static_cast<std::size_t>(threads));
    try {
      for (int i = 0; i < threads; ++i)
        threads_.push_back(start_thread("loader thread " + std::to_string(i), [this] { serve(); }));
    } catch (...) {
      stop();
      throw;
    }
  }

  ~Prefetch() { stop(); }

  /// The next item; nothing after the last.
  std::optional<Item> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_.contains(taken_) || failure_; });
    if (!ready_.contains(taken_)) std::rethrow_exception(failure_);
    auto entry = ready_.extract(taken_);
    if (entry.mapped().error) {
      ready_.insert(std::move(entry));  // stays: the next call throws the same error
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

  /// Whether `next` would return, or throw, without waiting.
  bool is_ready() const {
    std::lock_guard lock(mutex_);
    return ready_.contains(taken_) || failure_;
  }

 private:
  struct Result {
    std::optional<Item> item;
    std::exception_ptr error;
  };

  void stop() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  void serve() {
    try {
      work();
    } catch (...) {  // for example, no memory to store a result
      std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

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
  std::int64_t begun_ = 0;      // items that threads have begun to make
  std::int64_t taken_ = 0;      // items returned by next
  std::exception_ptr failure_;  // thrown by a thread outside make
  bool ended_ = false;
  bool stop_ = false;

  std::vector<std::thread> threads_;  // last: they use the members above
};

}  // namespace pagoda
