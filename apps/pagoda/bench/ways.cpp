#include "bench/ways.h"

#include <pagoda/terminal/text_table.h>

#include <algorithm>

namespace pagoda::app {
namespace {

bool on_cpu(const std::vector<Device>& devices) { return devices.front().kind == DeviceKind::cpu; }

/// 1, 2, 4, … and the number itself.
std::vector<int> powers_up_to(int most) {
  std::vector<int> numbers;
  for (int number = 1; number < most; number *= 2) numbers.push_back(number);
  numbers.push_back(most);
  return numbers;
}

std::vector<int> cores_of(const std::vector<Device>& devices) {
  std::vector<int> cores;
  for (const Device& device : devices)
    cores.insert(cores.end(), device.cores.begin(), device.cores.end());
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

/// CPU towers of `each` cores, as `--devices cpu:0,… --cores-per-tower` makes them.
std::vector<Device> cpu_towers(const std::vector<Device>& devices, int towers, int each) {
  const std::vector<int> cores = cores_of(devices);
  std::vector<Device> group;
  for (int tower = 0; tower < towers; ++tower) {
    Device device = devices.front();
    device.index = tower;
    device.original = tower;
    device.cores.assign(cores.begin() + tower * each, cores.begin() + (tower + 1) * each);
    group.push_back(std::move(device));
  }
  return group;
}

std::vector<std::vector<Device>> groups_of(const std::vector<Device>& devices) {
  std::vector<std::vector<Device>> groups;
  if (!on_cpu(devices)) {
    for (std::size_t count = 1; count <= devices.size(); ++count)
      groups.emplace_back(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(count));
    return groups;
  }
  const int cores = static_cast<int>(cores_of(devices).size());
  for (const int towers : powers_up_to(cores)) {
    for (const int each : powers_up_to(cores / towers))
      groups.push_back(cpu_towers(devices, towers, each));
  }
  return groups;
}

/// In fp32.
std::vector<Way> wide_ways(const std::vector<Device>& group, int layers) {
  const bool cpu = on_cpu(group);
  const ParameterPlacement usual = cpu ? ParameterPlacement::shared : ParameterPlacement::host;
  if (group.size() == 1) return {{group, usual}};  // alone, all placements are one
  std::vector<Way> ways;
  for (const ParameterPlacement placement : kEveryPlacement) {
    if (placement != ParameterPlacement::shared || cpu) ways.push_back({group, placement});
  }
  ways.push_back({group, ParameterPlacement::host, true});
  const int size = static_cast<int>(group.size());
  for (int stages = 2; stages <= std::min(size, layers); stages *= 2) {
    if (size % stages == 0) ways.push_back({group, usual, false, stages});
  }
  return ways;
}

}  // namespace

int Way::size() const {
  return on_cpu(devices) ? static_cast<int>(cores_of(devices).size())
                         : static_cast<int>(devices.size());
}

std::string Way::name() const {
  const auto count = static_cast<std::int64_t>(devices.size());
  const std::string in_stages = counted(stages, "stage");
  std::string where = counted(count, "card");
  if (on_cpu(devices)) {
    where = counted(count / stages, "tower") + (stages > 1 ? " of " + in_stages : "") + " of " +
            counted(static_cast<std::int64_t>(devices.front().cores.size()), "core");
  } else if (stages > 1) {
    where += ", " + in_stages;
  }
  if (stages == 1) where += std::string(", ") + (async ? "async" : placement_name(placement));
  return precision == Precision::fp32 ? where : where + ", " + precision_name(precision);
}

std::string Way::config() const {
  std::string labels;
  for (const Device& device : devices) labels += (labels.empty() ? "" : ",") + device.label();
  // A single number behind "sim:" would count cards.
  if (devices.size() == 1 && devices.front().kind == DeviceKind::sim)
    labels += "-" + std::to_string(devices.front().index);
  std::string text = "devices = \"" + labels + "\"\n";
  if (on_cpu(devices))
    text += "cores-per-tower = " + std::to_string(devices.front().cores.size()) + "\n";
  if (stages > 1) text += "stages = " + std::to_string(stages) + "\n";
  return text + "parameters = \"" + placement_name(placement) + "\"\nupdate = \"" +
         (async ? "async" : "sync") + "\"\nprecision = \"" + precision_name(precision) + "\"\n";
}

std::vector<Way> possible_ways(const std::vector<Device>& devices, int layers) {
  std::vector<Way> ways;
  for (const auto& group : groups_of(devices)) {
    const std::vector<Way> wide = wide_ways(group, layers);
    ways.insert(ways.end(), wide.begin(), wide.end());
    for (const Precision precision : {Precision::bf16, Precision::fp16}) {
      if (!slow_precision_text(precision, group).empty()) continue;
      ways.push_back(wide.front());
      ways.back().precision = precision;
    }
  }
  return ways;
}

}  // namespace pagoda::app
