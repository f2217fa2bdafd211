#pragma once

#include <pagoda/device/device_list.h>
#include <pagoda/device/device_memory.h>
#include <pagoda/placement/soft_placement.h>

#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// Which devices something uses, what it may take of their memory, and what becomes of work that
/// cannot be done where it was placed.
struct DeviceChoice {
  /// As `select_devices` takes them: "all", "cpu", "cuda", a number, "sim:4", "cuda:0,1", ….
  std::string devices = "all";
  DeviceOptions options = {};  ///< how the CPU is divided
  MemoryOptions memory = {};   ///< what towers may take
  /// What becomes of work that cannot be done where it was placed.
  SoftPlacement::Mode soft_placement = SoftPlacement::Mode::off;
  /// Of so many processes on this machine this is number `local_rank`: they divide the devices among
  /// them, unless `devices` names some.
  int local_rank = 0;
  int local_size = 1;  ///< how many processes divide the machine
};

/// The devices that were chosen, and the decision about soft placement for as long as this lives.
///
/// Fails: UsageError for devices that are not there, or memory limits that cannot be, and when there
/// are more processes than devices to divide.
class ChosenDevices {
 public:
  explicit ChosenDevices(const DeviceChoice& choice);

  /// In the order in which they were named.
  const std::vector<Device>& list() const { return devices_; }
  /// How many there are.
  int count() const { return static_cast<int>(devices_.size()); }

  /// A sentence for the log where towers have to share cores; otherwise empty.
  std::string warning() const;

 private:
  std::optional<SoftPlacement> soft_;  // where it is on: one at a time in a process
  std::vector<Device> devices_;
};

/// "memory sim:0 1.2 GiB (peak 1.5 GiB) of 2.0 GiB, sim:1 …": what towers take, for the log and the
/// summary.
std::string memory_text(const std::vector<Device>& devices, const std::vector<MemoryUse>& uses);

}  // namespace pagoda
