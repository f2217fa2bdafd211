#pragma once

#include <pagoda/device/device_list.h>
#include <pagoda/device/device_memory.h>
#include <pagoda/placement/soft_placement.h>

#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// Which devices to use, how much of their memory to take, and what to do with work that cannot be
/// done where it was placed.
struct DeviceChoice {
  /// In the notation of `select_devices`: "all", "cpu", "cuda", a number, "sim:4", "cuda:0,1", ….
  std::string devices = "all";
  DeviceOptions options = {};  ///< how the CPU is divided
  MemoryOptions memory = {};   ///< how much memory towers may take
  /// What to do with work that cannot be done where it was placed.
  SoftPlacement::Mode soft_placement = SoftPlacement::Mode::off;
  /// Number of this process among the `local_size` processes on this machine, from 0. They divide
  /// the devices among them, unless `devices` names some.
  int local_rank = 0;
  int local_size = 1;  ///< processes that divide the devices of this machine
};

/// The devices that a DeviceChoice selects; its soft placement is in effect for as long as this
/// lives.
///
/// Fails: UsageError for devices that do not exist, for memory limits out of range, and when there
/// are more processes than devices to divide among them.
class ChosenDevices {
 public:
  explicit ChosenDevices(const DeviceChoice& choice);

  /// The devices, in the order in which they were named.
  const std::vector<Device>& list() const { return devices_; }
  /// How many there are.
  int count() const { return static_cast<int>(devices_.size()); }

  /// A warning for the log if towers have to share cores; otherwise empty.
  std::string warning() const;

 private:
  std::optional<SoftPlacement> soft_;  // set where it is on; only one at a time in a process
  std::vector<Device> devices_;
};

/// "memory sim:0 1.2 GiB (peak 1.5 GiB) of 2.0 GiB, sim:1 …": the memory that towers take, for the
/// log and the summary.
std::string memory_text(const std::vector<Device>& devices, const std::vector<MemoryUse>& uses);

}  // namespace pagoda
