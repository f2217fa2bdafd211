#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace pagoda {

/// Tells the other processes, through the store, that this one is alive, from a thread of its own:
/// whoever is gone or frozen falls silent.
///
/// Threads: any.
class Heartbeat {
 public:
  static constexpr std::chrono::milliseconds kPeriod{500};

  /// `store` is for this alone: calls on a store wait for each other.
  Heartbeat(c10::intrusive_ptr<c10d::Store> store, std::string prefix, int rank);
  ~Heartbeat();

  /// The ranks that have not been heard of for several periods, while this waits. The store must be
  /// another. Fails: whatever the store throws.
  static std::vector<int> silent(c10d::Store& store, const std::string& prefix, int size);

 private:
  void run(const std::string& key);

  const c10::intrusive_ptr<c10d::Store> store_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace pagoda
