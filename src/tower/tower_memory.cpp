#include <pagoda/tower/tower_memory.h>

#include <utility>

#include "device/card_allocator.h"

namespace pagoda {

MemoryUse memory_use(const Device& device, const MemoryAccount* account) {
  MemoryUse use = memory_use(device);
  if (account != nullptr) {
    use.in_use = account->in_use();
    use.peak = account->peak();
  }
  return use;
}

TowerMemory::TowerMemory(std::vector<Device> devices,
                         std::vector<std::shared_ptr<MemoryAccount>> accounts)
    : devices_(std::move(devices)), accounts_(std::move(accounts)) {}

MemoryUse TowerMemory::use(int tower) const {
  const auto index = static_cast<std::size_t>(tower);
  return memory_use(devices_[index], accounts_[index].get());
}

void TowerMemory::reset_peaks() {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (accounts_[i]) {
      accounts_[i]->reset_peak();
    } else {
      const auto card = devices_[i].torch_device();
      card_allocator(card).resetPeakStats(card.index());
    }
  }
}

}  // namespace pagoda
