#include "sim/sim_memory.h"

#include <cstring>
#include <memory>
#include <utility>

#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/alignment.h>
#include <c10/core/impl/alloc_cpu.h>

#include "sim/sim_access.h"
#include "sim/sim_card.h"
#include "sim/sim_init.h"
#include "sim/sim_streams.h"

namespace pagoda {
namespace {

/// What a storage of a card holds: the host memory, which late copies may need longer, the bytes on
/// the card's account, and who has used it.
struct Holding {
  std::shared_ptr<const void> memory;
  int card;
  std::int64_t bytes;
  SimAccess access;

  static void release(void* context) {
    const std::unique_ptr<Holding> holding(static_cast<Holding*>(context));
    note_freed(holding->access);
    sim_card(holding->card).memory().release(holding->bytes);
  }
};

c10::DataPtr make_data_ptr(void* data, std::shared_ptr<const void> memory, int card,
                           std::int64_t bytes) {
  auto holding = std::make_unique<Holding>(
      Holding{std::move(memory), card, bytes, SimAccess(sim_allocation(card))});
  return {data, holding.release(), &Holding::release, sim_torch_device(card)};
}

Holding* holding_of(const c10::Storage& storage) {
  return storage.data_ptr().cast_context<Holding>(&Holding::release);
}

void free_host_memory(const void* memory) { c10::free_cpu(const_cast<void*>(memory)); }

class SimAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const int card =
        c10::impl::getDeviceGuardImpl(c10::DeviceType::PrivateUse1)->getDevice().index();
    require_sim_initialised("memory", card);
    sim_card(card).open_context();
    sim_card(card).memory().charge(static_cast<std::int64_t>(bytes));
    void* memory = nullptr;
    try {
      memory = c10::alloc_cpu(bytes);
    } catch (...) {
      sim_card(card).memory().release(static_cast<std::int64_t>(bytes));
      throw;
    }
    return make_data_ptr(memory, std::shared_ptr<const void>(memory, &free_host_memory), card,
                         static_cast<std::int64_t>(bytes));
  }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

  bool initialized() override { return sim_is_initialised(); }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override {
    if (auto* holding = data.cast_context<Holding>(&Holding::release)) {
      record_sim_stream(holding->access, {stream.device_index(), static_cast<int>(stream.id())});
    }
  }

  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex card) override {
    require_sim_initialised("statistics", card);
    c10::CachingDeviceAllocator::DeviceStats stats;
    const MemoryAccount& memory = sim_card(card).memory();
    for (auto* bytes : {&stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes}) {
      (*bytes)[0].current = memory.in_use();  // 0: of all pools together
      (*bytes)[0].peak = memory.peak();
    }
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex card) override {
    require_sim_initialised("statistics", card);
  }
  void resetPeakStats(c10::DeviceIndex card) override {
    require_sim_initialised("statistics", card);
    sim_card(card).memory().reset_peak();
  }

  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex card) override {
    sim_card(card).open_context();  // it is asked on the card
    const std::int64_t total = sim_card(card).options().memory_bytes;
    return {static_cast<std::size_t>(total - sim_card(card).memory().in_use()),
            static_cast<std::size_t>(total)};
  }
};

}  // namespace

c10::DeviceAllocator* sim_allocator() {
  static auto& allocator = *new SimAllocator;  // outlives every tensor
  return &allocator;
}

c10::Storage adopt_storage(const c10::Storage& host, int card) {
  const auto bytes = static_cast<std::int64_t>(host.nbytes());
  sim_card(card).memory().charge(bytes);
  return {c10::Storage::use_byte_size_t{}, host.nbytes(),
          make_data_ptr(host.mutable_data(), std::make_shared<c10::Storage>(host), card, bytes),
          sim_allocator(), /*resizable=*/true};
}

SimAccess* access_of(const c10::Storage& storage) {
  Holding* holding = holding_of(storage);
  return holding == nullptr ? nullptr : &holding->access;
}

std::shared_ptr<const void> memory_of(const c10::Storage& storage) {
  const Holding* holding = holding_of(storage);
  return holding == nullptr ? nullptr : holding->memory;
}

}  // namespace pagoda
