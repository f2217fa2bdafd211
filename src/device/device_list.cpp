#include <pagoda/base/error.h>
#include <pagoda/device/cpu_cores.h>
#include <pagoda/device/device_list.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <unistd.h>

#include "device/cuda_cards.h"

namespace pagoda {
namespace {

std::int64_t host_memory_bytes() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
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

std::vector<Device> cpu_devices(const DeviceOptions& options, std::optional<int> wanted = {}) {
  const CpuCores cpu = usable_cores();
  const int groups = wanted.value_or(default_groups(static_cast<int>(cpu.cores.size()), options));
  std::vector<Device> devices;
  for (int i = 0; i < groups; ++i) {
    devices.push_back({.kind = DeviceKind::cpu,
                       .index = i,
                       .original = i,
                       .name = cpu.name,
                       .cores = cores_of_group(cpu.cores, i, groups, options),
                       .memory_bytes = host_memory_bytes()});
  }
  return devices;
}

std::vector<Device> first_devices(int count, const DeviceOptions& options) {
  std::vector<Device> cards = cuda_cards();
  if (cards.empty()) {
    if (count > kMostCpuDevices) {
      throw UsageError(std::to_string(count) + " devices wanted; the CPU gives at most " +
                       std::to_string(kMostCpuDevices));
    }
    return cpu_devices(options, count);
  }
  if (count > static_cast<int>(cards.size())) {
    throw UsageError(std::to_string(count) + " devices wanted, " + std::to_string(cards.size()) +
                     " CUDA cards are visible; ask for fewer, or for --devices cpu");
  }
  cards.resize(static_cast<std::size_t>(count));
  return cards;
}

std::optional<int> parse_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || number < 0) {
    return std::nullopt;
  }
  return number;
}

struct NamedDevice {
  DeviceKind kind;
  int index;
};

constexpr const char* kForms = "use all, cpu, cuda, a number, or a list such as cpu:0,cpu:1";

/// "cuda:0,1" as (cuda, 0), (cuda, 1).
std::vector<NamedDevice> parse_list(std::string_view text) {
  std::vector<NamedDevice> named;
  std::optional<DeviceKind> kind;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    std::string_view number = part;
    if (const auto colon = part.find(':'); colon != std::string_view::npos) {
      const std::string_view word = part.substr(0, colon);
      if (word != "cpu" && word != "cuda") {
        throw UsageError("unknown device '" + std::string(part) + "' in '" + std::string(text) +
                         "'; " + kForms);
      }
      kind = word == "cpu" ? DeviceKind::cpu : DeviceKind::cuda;
      number = part.substr(colon + 1);
    }
    const auto index = parse_number(number);
    if (!kind || !index) {
      throw UsageError("unknown device '" + std::string(part) + "' in '" + std::string(text) +
                       "'; " + kForms);
    }
    for (const auto& other : named) {
      if (other.kind == *kind && other.index == *index) {
        throw UsageError("device " + std::string(kind_name(*kind)) + ":" + std::to_string(*index) +
                         " is listed twice in '" + std::string(text) + "'; name each device once");
      }
    }
    named.push_back({*kind, *index});
    begin = end + 1;
  }
  return named;
}

Device find_card(int index) {
  const auto cards = cuda_cards();
  if (index >= static_cast<int>(cards.size())) {
    throw UsageError("device cuda:" + std::to_string(index) + " is not there: " +
                     std::to_string(cards.size()) + " CUDA cards are visible (see pagoda devices)");
  }
  return cards[static_cast<std::size_t>(index)];
}

}  // namespace

std::vector<Device> list_devices(const DeviceOptions& options) {
  check(options);
  std::vector<Device> devices = cuda_cards();
  for (auto& device : cpu_devices(options)) devices.push_back(std::move(device));
  return devices;
}

std::vector<Device> visible_devices(const DeviceOptions& options) {
  check(options);
  auto cards = cuda_cards();
  return cards.empty() ? cpu_devices(options) : cards;
}

std::vector<Device> select_devices(std::string_view text, const DeviceOptions& options) {
  check(options);
  if (text == "all") return visible_devices(options);
  if (text == "cpu") return cpu_devices(options);
  if (text == "cuda") {
    auto cards = cuda_cards();
    if (cards.empty()) {
      throw UsageError("no CUDA card is visible to this build of LibTorch; use --devices cpu");
    }
    return cards;
  }
  if (const auto count = parse_number(text)) {
    if (*count == 0) throw UsageError("0 devices wanted; at least 1 is needed to train");
    return first_devices(*count, options);
  }

  const auto named = parse_list(text);
  int groups = default_groups(static_cast<int>(usable_cores().cores.size()), options);
  for (const auto& device : named) {
    if (device.kind != DeviceKind::cpu) continue;
    if (device.index >= kMostCpuDevices) {
      throw UsageError("device cpu:" + std::to_string(device.index) +
                       " is not there: the CPU gives at most " + std::to_string(kMostCpuDevices) +
                       " devices");
    }
    groups = std::max(groups, device.index + 1);
  }
  const auto cpu = cpu_devices(options, groups);
  std::vector<Device> devices;
  for (const auto& [kind, index] : named) {
    devices.push_back(kind == DeviceKind::cpu ? cpu[static_cast<std::size_t>(index)]
                                              : find_card(index));
  }
  return devices;
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
