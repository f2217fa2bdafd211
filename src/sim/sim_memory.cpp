#include "sim/sim_memory.h"

#include <cstring>
#include <memory>
#include <utility>

#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/alignment.h>
#include <c10/core/impl/alloc_cpu.h>

#include "sim/sim_card.h"
#include "sim/sim_init.h"

namespace pagoda {
namespace {

/// What a storage of a card holds: the host memory, and the bytes on the card's account.
struct Holding {
  c10::DataPtr memory;
  c10::Storage storage;  // of the host, where an operation there has made it
  int card;
  std::int64_t bytes;

  static void release(void* context) {
    const std::unique_ptr<Holding> holding(static_cast<Holding*>(context));
    sim_card(holding->card).memory().release(holding->bytes);
  }
};

c10::DataPtr make_data_ptr(void* data, std::unique_ptr<Holding> holding) {
  const auto device = sim_torch_device(holding->card);
  return {data, holding.release(), &Holding::release, device};
}

void free_host_memory(void* memory) { c10::free_cpu(memory); }

class SimAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const int card =
        c10::impl::getDeviceGuardImpl(c10::DeviceType::PrivateUse1)->getDevice().index();
    require_sim_initialised("memory", card);
    sim_card(card).open_context();
    sim_card(card).memory().charge(static_cast<std::int64_t>(bytes));
    auto holding =
        std::make_unique<Holding>(Holding{{}, {}, card, static_cast<std::int64_t>(bytes)});
    void* memory = nullptr;
    try {
      memory = c10::alloc_cpu(bytes);
    } catch (...) {
      sim_card(card).memory().release(holding->bytes);
      throw;
    }
    holding->memory = {memory, memory, &free_host_memory, c10::Device(c10::kCPU)};
    return make_data_ptr(memory, std::move(holding));
  }

  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

  bool initialized() override { return sim_is_initialised(); }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}

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

c10::Allocator* sim_allocator() {
  static auto& allocator = *new SimAllocator;  // outlives every tensor
  return &allocator;
}

c10::Storage adopt_storage(const c10::Storage& host, int card) {
  const auto bytes = static_cast<std::int64_t>(host.nbytes());
  sim_card(card).memory().charge(bytes);
  void* data = host.mutable_data();
  auto holding = std::make_unique<Holding>(Holding{{}, host, card, bytes});
  return {c10::Storage::use_byte_size_t{}, host.nbytes(), make_data_ptr(data, std::move(holding)),
          sim_allocator(), /*resizable=*/true};
}

}  // namespace pagoda
