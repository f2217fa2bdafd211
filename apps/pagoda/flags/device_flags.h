#pragma once

#include <pagoda/device/device_list.h>
#include <pagoda/device/device_memory.h>
#include <pagoda/placement/soft_placement.h>
#include <pagoda/tower/tower_group.h>

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace pagoda::app {

/// Which devices a command uses, what it may take of their memory, and what becomes of work that
/// cannot be done where it was placed.
struct DeviceFlags {
  std::string devices = "all";
  DeviceOptions options = {};
  std::optional<double> memory_fraction = std::nullopt;
  std::string memory_limit = {};  ///< a size such as "2GiB"; empty: none
  std::string memory_growth = "on";
  std::string soft_placement = "off";
};
void add_device_flags(CLI::App& command, DeviceFlags& flags);

/// The names of the flags that say where a command runs, without dashes.
std::vector<std::string> device_options();

/// What the flags say about each device's memory.
/// Fails: UsageError for a size that cannot be read.
MemoryOptions chosen_memory(const DeviceFlags& flags);

/// The devices of a command, and its decision about soft placement for as long as this lives.
/// Says on stderr when towers have to share cores.
/// Fails: UsageError for devices that are not there, or memory limits that cannot be.
class ChosenDevices {
 public:
  explicit ChosenDevices(const DeviceFlags& flags);

  const std::vector<Device>& list() const { return devices_; }
  int count() const { return static_cast<int>(devices_.size()); }

 private:
  SoftPlacement soft_;
  std::vector<Device> devices_;
};

/// --parameters: the name of a placement, or "auto" for what suits the devices.
void add_parameters_flag(CLI::App& command, std::string& parameters);
inline constexpr const char* kPlacedBySystem = "auto";

/// Nothing for "auto".
std::optional<ParameterPlacement> chosen_placement(const std::string& parameters);

/// "memory sim:0 1.2 GiB (peak 1.5 GiB) of 2.0 GiB, sim:1 …": what towers take, for the log and the
/// summary.
std::string memory_text(const std::vector<Device>& devices, const std::vector<MemoryUse>& uses);

}  // namespace pagoda::app
