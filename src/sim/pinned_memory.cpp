#include "sim/pinned_memory.h"

#include <cstring>
#include <functional>
#include <map>
#include <mutex>

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

namespace pagoda {
namespace {

/// The pieces that exist. Guarded by its mutex.
struct Pinned {
  std::mutex mutex;
  std::map<const char*, std::size_t, std::greater<>> bytes;  // by address, the highest first
};

Pinned& pinned() {
  static auto& all = *new Pinned;  // tensors may outlive every owner that we could name
  return all;
}

void free_pinned(void* memory) {
  {
    const std::lock_guard lock(pinned().mutex);
    pinned().bytes.erase(static_cast<const char*>(memory));
  }
  c10::free_cpu(memory);
}

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* memory = c10::alloc_cpu(bytes);
    if (memory != nullptr) {
      const std::lock_guard lock(pinned().mutex);
      pinned().bytes[static_cast<const char*>(memory)] = bytes;
    }
    return {memory, memory, &free_pinned, c10::Device(c10::kCPU)};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

}  // namespace

c10::Allocator* pinned_allocator() {
  static auto& allocator = *new PinnedAllocator;
  return &allocator;
}

bool is_pinned(const void* address) {
  const auto* at = static_cast<const char*>(address);
  const std::lock_guard lock(pinned().mutex);
  const auto found = pinned().bytes.lower_bound(at);  // the highest that is not above it
  return found != pinned().bytes.end() && at < found->first + found->second;
}

}  // namespace pagoda
