#pragma once

#include <pagoda/device/device.h>
#include <pagoda/memory/memory_account.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/patience.h"

namespace pagoda {

/// The thread of one tower, or of a further stage of it: pinned to its device's cores, with its own
/// random stream, alive from construction to destruction, running one job at a time.
///
/// Threads: all functions on the coordinating thread.
/// Fails: the constructor throws what the thread's set-up threw; a job's exception comes from
/// `wait`.
class TowerThread {
 public:
  using Job = std::function<void()>;

  TowerThread(int tower, const Device& device, int stage = 0);

  /// Joins the thread; one that is stuck in a job even after `settle` is left to itself.
  ~TowerThread();

  TowerThread(const TowerThread&) = delete;
  TowerThread& operator=(const TowerThread&) = delete;

  /// Begins a job; the one before must have been waited for. With a seed, the thread's random
  /// stream begins anew from it.
  void start(Job job, std::optional<std::uint64_t> seed);

  enum class Outcome { finished, late };

  /// Waits until the job has ended and gives its exception, if it threw one.
  Outcome wait(Patience& patience, std::exception_ptr& error);
  /// The same without a limit.
  std::exception_ptr wait();

  /// What the thread's CPU tensors take, where that is the tower's memory; null for cards.
  const std::shared_ptr<MemoryAccount>& memory() const { return memory_; }

  /// Gives a job that missed its deadline a little more time; false when it still has not ended.
  bool settle();

 private:
  struct Shared;
  static void serve(const std::shared_ptr<Shared>& shared, const std::string& name,
                    const Device& device, const std::shared_ptr<MemoryAccount>& memory);

  std::shared_ptr<Shared> shared_;
  std::shared_ptr<MemoryAccount> memory_;
  std::thread thread_;
};

}  // namespace pagoda
