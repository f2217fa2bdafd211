#include <pagoda/base/byte_size.h>
#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/device/device_memory.h>
#include <pagoda/memory/memory_account.h>
#include <pagoda/sim/sim_cards.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <ATen/Context.h>
#include <ATen/ops/empty.h>

#include "device/card_allocator.h"
#include "device/card_free_memory.h"
#include "device/cgroup.h"
#include "device/cuda_driver.h"
#include "device/cuda_limit.h"

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

void check_host_memory(const Device& device) {
  if (device.memory_growth || reserved_bytes(device) <= available_host_bytes()) return;
  throw DeviceError(device.label() + " is to take " + bytes_text(reserved_bytes(device)) +
                    " at the start, but only " + bytes_text(available_host_bytes()) +
                    " are available; set a lower limit, or memory growth on");
}

void limit_card(const Device& card, std::int64_t bytes) {
  if (card.kind == DeviceKind::sim) {
    sim_card_memory(card.index).set_limit(bytes);
  } else {
    limit_cuda_card(card, bytes);
  }
}

/// The limits of the claims that live, by their numbers, which rise; guarded by the mutex. Cards
/// belong to the process, and so does this.
std::map<std::int64_t, std::int64_t>& claims_on(const Device& card) {
  static auto& all = *new std::map<std::string, std::map<std::int64_t, std::int64_t>>;
  return all[card.label()];
}

std::mutex& claims_mutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

void limit_by_claims(const Device& card) {
  const auto& claims = claims_on(card);
  limit_card(card, claims.empty() ? card.memory_bytes : claims.rbegin()->second);
}

/// CUDA's allocator keeps what was freed; a simulated card finds out whether it is there.
void take_once(const Device& card) {
  limit_card(card, card.memory_bytes);
  try {
    at::empty({reserved_bytes(card)}, at::device(card.torch_device()).dtype(at::kByte));
  } catch (...) {
    limit_by_claims(card);
    throw;
  }
}

/// What is free on a CUDA card on which this process has opened no context yet: asking LibTorch would
/// open one, which takes hundreds of megabytes. Nothing where only LibTorch knows.
std::optional<std::int64_t> free_before_use(const Device& device) {
  if (device.kind != DeviceKind::cuda) return std::nullopt;
  const auto& hooks = at::globalContext().getAcceleratorHooksInterface(c10::kCUDA);
  const auto index = device.torch_device().index();
  if (hooks.hasPrimaryContext(index)) return std::nullopt;
  const auto cards = cuda_driver_cards();
  const auto number = static_cast<std::size_t>(index);
  return number < cards.size() ? card_free_memory(cards[number].uuid) : std::nullopt;
}

}  // namespace

at::DeviceAllocator& card_allocator(c10::Device card) {
  at::globalContext().lazyInitDevice(card.type());
  return *at::getDeviceAllocator(card.type());
}

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
  if (const auto unused = free_before_use(device)) {
    use.free = *unused;
    return use;
  }
  const auto card = device.torch_device();
  at::DeviceAllocator& allocator = card_allocator(card);
  const auto [free_bytes, total_bytes] = allocator.getMemoryInfo(card.index());
  const auto stats = allocator.getDeviceStats(card.index());
  use.total = static_cast<std::int64_t>(total_bytes);
  use.free = static_cast<std::int64_t>(free_bytes);
  use.in_use = stats.allocated_bytes[0].current;  // 0: of all pools together
  use.peak = stats.allocated_bytes[0].peak;
  return use;
}

MemoryClaim::MemoryClaim(const Device& device) {
  if (device.kind == DeviceKind::cpu) {
    check_host_memory(device);
    return;
  }
  const std::lock_guard lock(claims_mutex());
  if (!device.memory_growth) take_once(device);
  auto& claims = claims_on(device);
  number_ = claims.empty() ? 0 : claims.rbegin()->first + 1;
  claims[number_] = reserved_bytes(device);
  limit_by_claims(device);
  card_ = device;
}

MemoryClaim::MemoryClaim(MemoryClaim&& other) noexcept
    : card_(std::exchange(other.card_, std::nullopt)), number_(other.number_) {}

MemoryClaim::~MemoryClaim() {
  if (!card_) return;
  const std::lock_guard lock(claims_mutex());
  claims_on(*card_).erase(number_);
  try {
    limit_by_claims(*card_);
  } catch (const std::exception&) {  // a card that is lost has no limit either
  }
}

}  // namespace pagoda
