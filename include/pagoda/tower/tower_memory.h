#pragma once

#include <pagoda/device/device_memory.h>
#include <pagoda/memory/memory_account.h>

#include <memory>
#include <vector>

namespace pagoda {

/// What a device has, and what the tensors of a thread take there: those of the account, or of the
/// whole device where that keeps count itself (null).
MemoryUse memory_use(const Device& device, const MemoryAccount* account);

/// The memory of a group's towers. On a CPU tower: what its thread has allocated, parameters included
/// (shared ones on tower 0), and the optimizer's state where the tower updates.
///
/// Threads: any.
class TowerMemory {
 public:
  /// `accounts[t]` is that of tower t's thread; null for cards.
  TowerMemory(std::vector<Device> devices, std::vector<std::shared_ptr<MemoryAccount>> accounts);

  /// What a tower takes now, and took at most.
  MemoryUse use(int tower) const;

  /// Begins to measure the towers' peaks anew.
  void reset_peaks();

 private:
  std::vector<Device> devices_;
  std::vector<std::shared_ptr<MemoryAccount>> accounts_;
};

}  // namespace pagoda
