#include "bench/ways.h"

#include <pagoda/base/toml.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/terminal/text_table.h>

#include <algorithm>

namespace pagoda::app {
namespace {

bool on_cpu(const std::vector<Device>& devices) { return devices.front().kind == DeviceKind::cpu; }

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

/// In a process that is alone a single device has one way, as all placements are one.
std::vector<ParameterPlacement> placements_on(const std::vector<Device>& devices, bool alone) {
  const bool cpu = on_cpu(devices);
  const bool single = devices.size() == 1;
  if (single && alone) return {cpu ? ParameterPlacement::shared : ParameterPlacement::host};
  if (single && cpu) return {ParameterPlacement::shared, ParameterPlacement::spread};
  std::vector<ParameterPlacement> placements;
  for (const ParameterPlacement placement : kEveryPlacement) {
    if (placement != ParameterPlacement::shared || cpu) placements.push_back(placement);
  }
  return placements;
}

std::vector<Way> staged_ways(const std::vector<Device>& devices, int layers) {
  const int size = static_cast<int>(devices.size());
  const auto placement = on_cpu(devices) ? ParameterPlacement::shared : ParameterPlacement::host;
  std::vector<Way> ways;
  for (int stages = 2; stages <= std::min(size, layers); stages *= 2) {
    if (size % stages == 0) ways.push_back({devices, placement, false, stages});
  }
  return ways;
}

std::string together_name(const WayTogether& together) {
  std::string name;
  if (together.wire != WireType::fp32) name += std::string(", ") + wire_name(together.wire);
  if (together.sync_every > 1)
    name += ", meeting every " + std::to_string(together.sync_every) + " steps";
  return name;
}

std::string labels_of(const std::vector<Device>& devices) {
  std::string labels;
  for (const Device& device : devices) labels += (labels.empty() ? "" : ",") + device.label();
  // A single number behind "sim:" would count cards.
  if (devices.size() == 1 && devices.front().kind == DeviceKind::sim)
    labels += "-" + std::to_string(devices.front().index);
  return labels;
}

}  // namespace

std::vector<int> powers_up_to(int most) {
  std::vector<int> numbers;
  for (int number = 1; number < most; number *= 2) numbers.push_back(number);
  numbers.push_back(most);
  return numbers;
}

int Way::size() const {
  return on_cpu(devices) ? static_cast<int>(cores_of(devices).size())
                         : static_cast<int>(devices.size());
}

std::string Way::name() const {
  const auto count =
      static_cast<std::int64_t>(together ? together->devices : static_cast<int>(devices.size()));
  const std::string in_stages = counted(stages, "stage");
  std::string where = counted(count, "card");
  if (on_cpu(devices)) {
    where = counted(count / stages, "tower") + (stages > 1 ? " of " + in_stages : "") + " of " +
            counted(static_cast<std::int64_t>(devices.front().cores.size()), "core");
  } else if (stages > 1) {
    where += ", " + in_stages;
  }
  if (together) where += " in " + counted(together->processes, "process");
  if (stages == 1) where += std::string(", ") + (async ? "async" : placement_name(placement));
  if (precision != Precision::fp32) where += std::string(", ") + precision_name(precision);
  return together ? where + together_name(*together) : where;
}

std::string Way::config() const {
  std::string text =
      "devices = " + toml_text(together ? together->chosen : labels_of(devices)) + "\n";
  const auto cores = together ? together->cores_per_tower
                     : on_cpu(devices)
                         ? std::optional(static_cast<int>(devices.front().cores.size()))
                         : std::nullopt;
  if (cores) text += "cores-per-tower = " + std::to_string(*cores) + "\n";
  if (stages > 1) text += "stages = " + std::to_string(stages) + "\n";
  text += std::string("parameters = \"") + placement_name(placement) + "\"\nupdate = \"" +
          (async ? "async" : "sync") + "\"\nprecision = \"" + precision_name(precision) + "\"\n";
  if (together) {
    text += std::string("wire = \"") + wire_name(together->wire) +
            "\"\nsync-every = " + std::to_string(together->sync_every) + "\n";
  }
  return text;
}

std::vector<Way> ways_on(const std::vector<Device>& devices, int layers) {
  std::vector<Way> ways;
  for (const auto placement : placements_on(devices, /*alone=*/true))
    ways.push_back({devices, placement});
  if (devices.size() > 1) ways.push_back({devices, ParameterPlacement::host, true});
  for (Way& way : staged_ways(devices, layers)) ways.push_back(std::move(way));
  for (const Precision precision : {Precision::bf16, Precision::fp16}) {
    if (!slow_precision_text(precision, devices).empty()) continue;
    ways.push_back(ways.front());
    ways.back().precision = precision;
  }
  return ways;
}

std::vector<Way> ways_on(const std::vector<Device>& devices, int layers,
                         const WayTogether& together) {
  std::vector<Way> ways;
  for (const auto placement : placements_on(devices, /*alone=*/false)) {
    // Processes that train on their own need all of the optimizer's state.
    if (together.sync_every == 1 || placement != ParameterPlacement::spread)
      ways.push_back({devices, placement});
  }
  for (Way& way : staged_ways(devices, layers)) ways.push_back(std::move(way));
  for (Way& way : ways) way.together = together;
  return ways;
}

std::vector<Way> possible_ways(const std::vector<Device>& devices, int layers) {
  std::vector<Way> ways;
  for (const auto& group : groups_of(devices)) {
    for (Way& way : ways_on(group, layers)) ways.push_back(std::move(way));
  }
  return ways;
}

}  // namespace pagoda::app
