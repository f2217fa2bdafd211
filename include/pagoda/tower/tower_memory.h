#pragma once

#include <pagoda/device/device_memory.h>
#include <pagoda/memory/memory_account.h>

#include <memory>
#include <vector>

namespace pagoda {

/// What a device has, and what a thread's tensors use there, as the account counts it; with a null
/// account, what the device itself counts.
MemoryUse memory_use(const Device& device, const MemoryAccount* account);

/// The memory of a group's towers. For a CPU tower, that is what its thread has allocated,
/// including parameters (shared ones count for tower 0) and, where the tower updates, optimizer
/// state.
///
/// Threads: any.
class TowerMemory {
 public:
  /// `accounts[t]` is the account of tower t's thread; null for cards.
  TowerMemory(std::vector<Device> devices, std::vector<std::shared_ptr<MemoryAccount>> accounts);

  /// What a tower uses now, and its peak.
  MemoryUse use(int tower) const;

  /// Restarts the measurement of the towers' peaks.
  void reset_peaks();

 private:
  std::vector<Device> devices_;
  std::vector<std::shared_ptr<MemoryAccount>> accounts_;
};

}  // namespace pagoda
