#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/device/cpu_cores.h>
#include <pagoda/device/device_list.h>
#include <pagoda/device/sim_devices.h>

#include <algorithm>
#include <map>
#include <string>
#include <unistd.h>

#include "device/cgroup.h"
#include "device/cuda_cards.h"
#include "device/device_mask.h"
#include "device/device_text.h"

namespace pagoda {
namespace {

/// What the machine has, or as much of it as the process's cgroups allow.
std::int64_t host_memory_bytes() {
  const std::int64_t all =
      static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return std::min(all, cgroup_limits().memory_bytes.value_or(all));
}

bool is_pinned(const CpuCores& cpu, Pin pin) {
  return pin == Pin::on || (pin == Pin::automatic && cpu.owned);
}

void check(const DeviceOptions& options) {
  if (options.cores_per_tower && *options.cores_per_tower < 1) {
    throw UsageError("cores per tower is " + std::to_string(*options.cores_per_tower) +
                     "; it must be at least 1");
  }
}

/// How many groups `cores` make when nobody says how many devices are wanted.
int default_groups(int cores, const DeviceOptions& options) {
  if (options.cores_per_tower) return std::max(1, cores / *options.cores_per_tower);
  return std::min(cores, kDefaultCpuDevices);
}

/// The cores of group `index` of `groups`. Past the last core it begins again at the first.
std::vector<int> cores_of_group(const std::vector<int>& cores, int index, int groups,
                                const DeviceOptions& options) {
  const int total = static_cast<int>(cores.size());
  int begin = index * total / groups;
  int end = (index + 1) * total / groups;
  if (options.cores_per_tower) {
    const int each = std::min(*options.cores_per_tower, total);
    begin = index * each;
    end = begin + each;
  }
  std::vector<int> group;
  for (int i = begin; i < std::max(end, begin + 1); ++i) group.push_back(cores[i % total]);
  return group;
}

/// The CPU in so many groups of cores, or in the default number, of which a mask may hide some.
std::vector<Device> cpu_devices(const DeviceOptions& options, std::optional<int> wanted = {}) {
  const CpuCores cpu = usable_cores();
  const int groups = wanted.value_or(default_groups(static_cast<int>(cpu.cores.size()), options));
  const std::int64_t memory = host_memory_bytes();
  std::vector<Device> devices;
  for (const int group : visible_numbers(DeviceKind::cpu, groups)) {
    devices.push_back({.kind = DeviceKind::cpu,
                       .index = static_cast<int>(devices.size()),
                       .original = group,
                       .name = cpu.name,
                       .cores = cores_of_group(cpu.cores, group, groups, options),
                       .pinned = is_pinned(cpu, options.pin),
                       .memory_bytes = memory});
  }
  return devices;
}

UsageError not_there(const std::string& what, std::size_t visible, const char* kind,
                     const char* mask) {
  return UsageError(what + " is not there: " + counted(static_cast<std::int64_t>(visible), kind) +
                    (visible == 1 ? " is" : " are") + " visible (see pagoda devices, and " + mask +
                    ")");
}

/// Whether the environment hides CPU devices: their number is then fixed.
bool masks_cpu() {
  const auto mask = mask_of(DeviceKind::cpu);
  return mask && parse_mask(*mask, DeviceKind::cpu);
}

/// So many CPU devices: a mask chooses among the default ones, otherwise any number can be had.
std::vector<Device> so_many_cpu_devices(int count, const DeviceOptions& options) {
  if (count > kMostCpuDevices) {
    throw UsageError(std::to_string(count) + " devices wanted; the CPU gives at most " +
                     std::to_string(kMostCpuDevices));
  }
  if (!masks_cpu()) return cpu_devices(options, count);
  auto devices = cpu_devices(options);
  if (count > static_cast<int>(devices.size())) {
    throw not_there("device cpu:" + std::to_string(count - 1), devices.size(), "CPU device",
                    kOtherMask);
  }
  devices.resize(static_cast<std::size_t>(count));
  return devices;
}

std::vector<Device> first_devices(int count, const DeviceOptions& options) {
  std::vector<Device> cards = cuda_cards();
  if (cards.empty()) return so_many_cpu_devices(count, options);
  if (count > static_cast<int>(cards.size())) {
    throw UsageError(
        counted(count, "device") + " wanted, " + counted(std::ssize(cards), "CUDA card") +
        (cards.size() == 1 ? " is" : " are") + " visible; ask for fewer, or for CPU devices");
  }
  cards.resize(static_cast<std::size_t>(count));
  return cards;
}

/// The simulated cards; a machine that has card `last` is set up where there is none yet.
std::vector<Device> sim_machine(int last) {
  if (sim_card_count() > 0) return sim_devices();
  if (last >= kMostSimCards) {
    throw UsageError("device sim:" + std::to_string(last) + " is not there: at most " +
                     std::to_string(kMostSimCards) + " cards can be simulated");
  }
  return simulate_devices(last + 1);
}

/// The device of a list that has the named one's number.
Device pick(const std::vector<Device>& devices, const NamedDevice& named, const char* kind,
            const char* mask) {
  if (named.index >= static_cast<int>(devices.size())) {
    throw not_there(
        "device " + std::string(kind_name(named.kind)) + ":" + std::to_string(named.index),
        devices.size(), kind, mask);
  }
  return devices[static_cast<std::size_t>(named.index)];
}

/// The largest number of a kind in a list; -1 when it has none of the kind.
int largest(const std::vector<NamedDevice>& named, DeviceKind kind) {
  int most = -1;
  for (const auto& device : named) {
    if (device.kind == kind) most = std::max(most, device.index);
  }
  return most;
}

std::vector<Device> find_devices(const std::vector<NamedDevice>& named,
                                 const DeviceOptions& options) {
  const int last_sim = largest(named, DeviceKind::sim);
  const int last_cpu = largest(named, DeviceKind::cpu);
  const auto cores = static_cast<int>(usable_cores().cores.size());
  if (last_cpu >= cores) {
    throw UsageError("device cpu:" + std::to_string(last_cpu) + " is not there: the process has " +
                     counted(cores, "core") +
                     "; for more towers than cores give their number alone");
  }
  const auto cpu =
      masks_cpu() ? cpu_devices(options)
                  : cpu_devices(options, std::max(default_groups(cores, options), last_cpu + 1));
  const auto sim = last_sim >= 0 ? sim_machine(last_sim) : std::vector<Device>{};
  const auto cuda = cuda_cards();
  std::vector<Device> devices;
  for (const auto& one : named) {
    switch (one.kind) {
      case DeviceKind::cpu:
        devices.push_back(pick(cpu, one, "CPU device", kOtherMask));
        break;
      case DeviceKind::sim:
        devices.push_back(pick(sim, one, "simulated card", kOtherMask));
        break;
      case DeviceKind::cuda:
        devices.push_back(pick(cuda, one, "CUDA card", kCudaMask));
        break;
    }
  }
  return devices;
}

std::vector<Device> some(std::vector<Device> devices, const char* kind, const char* mask) {
  if (!devices.empty()) return devices;
  throw UsageError(std::string("no ") + kind + " is visible; choose other devices, or check " +
                   mask);
}

}  // namespace

std::vector<Device> list_devices(const DeviceOptions& options) {
  check(options);
  std::vector<Device> devices = cuda_cards();
  for (auto& device : sim_devices()) devices.push_back(std::move(device));
  for (auto& device : cpu_devices(options)) devices.push_back(std::move(device));
  return devices;
}

std::vector<Device> visible_devices(const DeviceOptions& options) {
  check(options);
  auto cards = cuda_cards();
  if (cards.empty()) cards = sim_devices();
  return cards.empty() ? some(cpu_devices(options), "device", kOtherMask) : cards;
}

std::vector<Device> select_devices(std::string_view text, const DeviceOptions& options) {
  check(options);
  if (text == "all") return visible_devices(options);
  if (text == "cpu") return some(cpu_devices(options), "CPU device", kOtherMask);
  if (text == "cuda") return some(cuda_cards(), "CUDA card", kCudaMask);
  if (text == "sim") {
    if (sim_card_count() == 0) throw UsageError("no card is simulated yet; say how many: sim:4");
    return sim_devices();
  }
  if (const auto count = parse_sim_count(text)) {
    auto cards = sim_machine(*count - 1);
    if (*count > static_cast<int>(cards.size()) && !mask_of(DeviceKind::sim)) {
      throw UsageError(std::to_string(*count) + " simulated cards wanted, there are " +
                       std::to_string(cards.size()) + "; simulate more at the start");
    }
    cards.resize(std::min(cards.size(), static_cast<std::size_t>(*count)));
    return cards;
  }
  if (const auto count = parse_number(text)) {
    if (*count == 0) throw UsageError("0 devices wanted; at least 1 is needed to train");
    return first_devices(*count, options);
  }
  return find_devices(parse_device_list(text), options);
}

std::vector<Device> named_devices(std::string_view text) {
  std::vector<Device> devices;
  for (const auto& named : parse_device_list(text)) {
    devices.push_back({.kind = named.kind, .index = named.index, .original = named.index});
  }
  return devices;
}

std::optional<Device> find_device(const Device& named, const DeviceOptions& options) {
  for (const auto& device : list_devices(options)) {
    if (device.kind == named.kind && device.index == named.index) return device;
  }
  return std::nullopt;
}

std::vector<int> shared_cores(const std::vector<Device>& devices) {
  std::map<int, int> users;
  for (const auto& device : devices) {
    for (const int core : device.cores) ++users[core];
  }
  std::vector<int> shared;
  for (const auto& [core, count] : users) {
    if (count > 1) shared.push_back(core);
  }
  return shared;
}

}  // namespace pagoda
