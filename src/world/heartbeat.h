#pragma once

#include <chrono>
#include <memory>
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
  /// Does not wait for a store that gives no answer: the thread is then left to itself.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// Whether the store is gone, so that nobody hears of this process any more.
  bool is_lost() const;

  /// The ranks that have not been heard of for several periods, while this waits. The store must be
  /// another. Fails: whatever the store throws.
  static std::vector<int> silent(c10d::Store& store, const std::string& prefix, int size);

 private:
  struct Shared;

  const std::shared_ptr<Shared> shared_;  // with the thread
  std::thread thread_;
};

}  // namespace pagoda
