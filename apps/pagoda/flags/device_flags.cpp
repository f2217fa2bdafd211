#include "flags/device_flags.h"

#include <pagoda/base/byte_size.h>

#include <cstdio>

#include "flags/flag_adder.h"

namespace pagoda::app {
void add_device_flags(CLI::App& command, DeviceFlags& flags) {
  const std::vector<std::string> on_off{"on", "off"};
  FlagAdder add(command, "Devices");
  add.option("--devices", flags.devices,
             "all, cpu, cuda, a number, sim:4 (four simulated cards), or a list such as "
             "cpu:0,cpu:1, cuda:0,1 or sim:0-3");
  add.option("--cores-per-tower", flags.options.cores_per_tower,
             "cores of each CPU tower (default: all cores, divided evenly)");
  command
      .add_option_function<std::string>(
          "--pin",
          [&flags](const std::string& text) {
            flags.options.pin = text == "on" ? Pin::on : text == "off" ? Pin::off : Pin::automatic;
          },
          "bind CPU towers to their cores; auto: unless a CPU quota gives the process less than "
          "its "
          "affinity mask has")
      ->default_str("auto")
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->group("Devices");
  CLI::Option* fraction = add.option(
      "--memory-fraction", flags.memory_fraction,
      "part of each device's memory that its tower may take, such as 0.7 (default: all)");
  add.option("--memory-limit", flags.memory_limit,
             "memory that each device's tower may take, such as 2GiB (default: all)")
      ->excludes(fraction);
  add.word("--memory-growth", flags.memory_growth, on_off,
           "on: take memory as it is needed; off: take it all at the start");
  add.word("--soft-placement", flags.soft_placement, on_off,
           "on: what a device cannot do, or a device that is not there, goes to another one; "
           "off: an error");
}

std::vector<std::string> device_options() {
  return {"devices",      "cores-per-tower", "pin",           "memory-fraction",
          "memory-limit", "memory-growth",   "soft-placement"};
}

MemoryOptions chosen_memory(const DeviceFlags& flags) {
  MemoryOptions options{.fraction = flags.memory_fraction, .growth = flags.memory_growth == "on"};
  if (!flags.memory_limit.empty()) options.limit_bytes = parse_bytes(flags.memory_limit);
  return options;
}

ChosenDevices::ChosenDevices(const DeviceFlags& flags)
    : soft_(flags.soft_placement == "on" ? SoftPlacement::Mode::on : SoftPlacement::Mode::off),
      devices_(with_memory(soft_.devices(flags.devices, flags.options), chosen_memory(flags))) {
  if (const auto shared = shared_cores(devices_); !shared.empty()) {
    std::fprintf(stderr,
                 "pagoda: warning: %zu towers share %zu of their cores and will be slower than "
                 "fewer towers\n",
                 devices_.size(), shared.size());
  }
}

void add_parameters_flag(CLI::App& command, std::string& parameters) {
  std::vector<std::string> names{kPlacedBySystem};
  for (const ParameterPlacement placement : kEveryPlacement)
    names.emplace_back(placement_name(placement));
  FlagAdder(command, "Devices")
      .word("--parameters", parameters, names,
            "where they live and are updated: one copy of all CPU towers, a copy on each device, "
            "the host, or a share on each device; auto: shared, or host with cards");
}

std::optional<ParameterPlacement> chosen_placement(const std::string& parameters) {
  for (const ParameterPlacement placement : kEveryPlacement) {
    if (parameters == placement_name(placement)) return placement;
  }
  return std::nullopt;
}

std::string memory_text(const std::vector<Device>& devices, const std::vector<MemoryUse>& uses) {
  std::string text = "memory";
  for (std::size_t i = 0; i < devices.size(); ++i) {
    text += (i > 0 ? ", " : " ") + devices[i].label() + " " + bytes_text(uses[i].in_use) +
            " (peak " + bytes_text(uses[i].peak) + ")";
    if (uses[i].limit) text += " of " + bytes_text(*uses[i].limit);
  }
  return text;
}

}  // namespace pagoda::app
