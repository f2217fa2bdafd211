#pragma once

#include <pagoda/memory/memory_account.h>

#include <memory>

namespace pagoda {

/// While it lives, the CPU tensors that this thread allocates are charged to the account, and
/// released from it when they are freed, in whichever thread. Tensors of other threads are not
/// counted.
///
/// The first one installs an allocator of ours in front of LibTorch's, for the rest of the process:
/// each block then begins with a short note of its owner.
///
/// Threads: construct and destroy it in one thread; an inner one hides an outer one.
/// Fails: an allocation that would exceed the account's limit throws MemoryLimitError.
class ChargeCpuMemory {
 public:
  explicit ChargeCpuMemory(std::shared_ptr<MemoryAccount> account);
  ~ChargeCpuMemory();
  ChargeCpuMemory(const ChargeCpuMemory&) = delete;
  ChargeCpuMemory& operator=(const ChargeCpuMemory&) = delete;

 private:
  std::shared_ptr<MemoryAccount> account_;
  const std::shared_ptr<MemoryAccount>* outer_;
};

}  // namespace pagoda
