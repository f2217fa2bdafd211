#include <pagoda/base/byte_size.h>
#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/device/device_memory.h>
#include <pagoda/memory/memory_account.h>
#include <pagoda/sim/sim_cards.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include <ATen/DeviceAccelerator.h>
#include <ATen/ops/empty.h>
#include <c10/core/AllocatorConfig.h>

#include "device/cgroup.h"

namespace pagoda {
namespace {

void check(const MemoryOptions& options) {
  if (options.fraction && options.limit_bytes) {
    throw UsageError("a memory fraction and a memory limit were given; choose one");
  }
  if (options.fraction && !(*options.fraction > 0 && *options.fraction <= 1)) {
    throw UsageError("the memory fraction is " + number_text(*options.fraction) +
                     "; it must be above 0 and at most 1");
  }
  if (options.limit_bytes && *options.limit_bytes < 1) {
    throw UsageError("the memory limit is " + std::to_string(*options.limit_bytes) +
                     " bytes; it must be at least 1");
  }
}

std::int64_t reserved_bytes(const Device& device) {
  return device.memory_limit.value_or(device.memory_bytes);
}

}  // namespace

std::int64_t available_host_bytes(const std::filesystem::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string word;
  std::int64_t kibibytes = 0;
  while (file >> word) {
    if (word == "MemAvailable:" && file >> kibibytes) break;
  }
  const std::int64_t bytes = kibibytes * 1024;
  return std::min(bytes, cgroup_limits(root).memory_left.value_or(bytes));
}

std::vector<Device> with_memory(std::vector<Device> devices, const MemoryOptions& options) {
  check(options);
  const auto cpus = std::count_if(devices.begin(), devices.end(), [](const Device& device) {
    return device.kind == DeviceKind::cpu;
  });
  for (auto& device : devices) {
    const std::int64_t all =
        device.kind == DeviceKind::cpu ? device.memory_bytes / cpus : device.memory_bytes;
    if (options.limit_bytes && *options.limit_bytes > all) {
      throw UsageError("the memory limit of " + bytes_text(*options.limit_bytes) +
                       " is above the " + bytes_text(all) + " that " + device.label() + " has" +
                       (cpus > 1 && device.kind == DeviceKind::cpu
                            ? " as one of " + std::to_string(cpus) + " CPU towers"
                            : ""));
    }
    device.memory_limit = options.limit_bytes;
    if (options.fraction) {
      const double bytes = std::floor(static_cast<double>(all) * *options.fraction);
      device.memory_limit = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes));
    }
    device.memory_growth = options.growth;
    if (!options.growth && !device.memory_limit) device.memory_limit = all;
  }
  return devices;
}

MemoryUse memory_use(const Device& device) {
  MemoryUse use{.total = device.memory_bytes, .limit = device.memory_limit};
  if (device.kind == DeviceKind::cpu) {
    use.free = available_host_bytes();
    return use;
  }
  const auto card = device.torch_device();
  auto* allocator = at::getDeviceAllocator(card.type());
  const auto [free_bytes, total_bytes] = allocator->getMemoryInfo(card.index());
  const auto stats = allocator->getDeviceStats(card.index());
  use.total = static_cast<std::int64_t>(total_bytes);
  use.free = static_cast<std::int64_t>(free_bytes);
  use.in_use = stats.allocated_bytes[0].current;  // 0: of all pools together
  use.peak = stats.allocated_bytes[0].peak;
  return use;
}

void claim_memory(const Device& device) {
  if (device.kind == DeviceKind::cuda && device.memory_limit) {
    const double fraction =
        static_cast<double>(*device.memory_limit) / static_cast<double>(device.memory_bytes);
    c10::CachingAllocator::setAllocatorSettings("per_process_memory_fraction:" +
                                                number_text(fraction));
  }
  if (device.kind == DeviceKind::cpu && !device.memory_growth) {
    if (reserved_bytes(device) > available_host_bytes()) {
      throw DeviceError(device.label() + " is to take " + bytes_text(reserved_bytes(device)) +
                        " at the start, but only " + bytes_text(available_host_bytes()) +
                        " are available; set a lower limit, or memory growth on");
    }
  }
  if (device.kind == DeviceKind::sim) sim_card_memory(device.index).set_limit(device.memory_bytes);
  if (device.kind != DeviceKind::cpu && !device.memory_growth) {
    // CUDA's allocator keeps what was freed; a simulated card finds out whether it is there.
    at::empty({reserved_bytes(device)}, at::device(device.torch_device()).dtype(at::kByte));
  }
  if (device.kind == DeviceKind::sim)
    sim_card_memory(device.index).set_limit(reserved_bytes(device));
}

}  // namespace pagoda
