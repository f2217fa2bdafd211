#pragma once

#include <pagoda/device/device.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Whether the threads of a CPU device are bound to its cores.
enum class Pin {
  automatic,  ///< bound if the process owns the cores (see CpuCores::owned)
  on,
  off,  ///< the system schedules them; only the number of a device's cores counts
};

/// How the CPU is divided into devices.
struct DeviceOptions {
  /// Cores of each CPU device; unset: all cores are divided evenly among the devices.
  std::optional<int> cores_per_tower = std::nullopt;
  Pin pin = Pin::automatic;  ///< whether their threads are bound to their cores
};

/// The number of CPU devices if `cores_per_tower` is unset: one for each core, but no more than
/// this many, because each further tower costs a copy of the gradients. `pagoda bench` finds the
/// best number for a model.
inline constexpr int kDefaultCpuDevices = 8;

/// The largest number of CPU devices that can be asked for; a larger one is taken for a mistake.
inline constexpr int kMostCpuDevices = 1024;

/// What the process may use if the caller does not choose: all CUDA cards; if there are none, all
/// simulated cards; if there are none either, the CPU's cores as `cpu:0`, `cpu:1`, …
/// CUDA_VISIBLE_DEVICES hides and renumbers CUDA cards, PAGODA_VISIBLE_DEVICES the other kinds by
/// the same rules (docs/devices.md).
/// Fails: UsageError for a bad option, or if no device is visible; DeviceError if the machine's
/// devices cannot be read.
std::vector<Device> visible_devices(const DeviceOptions& options = {});

/// Everything that the process may use, cards first, then the CPU: the list that `pagoda devices`
/// prints.
std::vector<Device> list_devices(const DeviceOptions& options = {});

/// The devices that a text names, in the order of the text:
///
///     all           what visible_devices() gives
///     cpu, cuda     every device of that kind
///     sim           every simulated card; some must be set up already
///     sim:4         four simulated cards, set up if there are none yet (see sim_devices.h)
///     4             4 devices: CUDA cards if there are any, otherwise the CPU's cores in 4 groups
///     cuda:0,1      these cards; a bare number keeps the kind before it
///     cpu:0,cpu:1   these groups of cores
///     sim:0,sim:2   these simulated cards; `sim:0-3` is a range, here and for the other kinds
///
/// A plain number may ask for more CPU devices than there are cores; the cores are then shared (see
/// `shared_cores`).
/// Fails: UsageError naming the bad part: unknown, missing, or listed twice.
std::vector<Device> select_devices(std::string_view text, const DeviceOptions& options = {});

/// The devices of a list such as "sim:0,sim:2", with kind and number only: they need not exist.
/// Fails: UsageError for any other text.
std::vector<Device> named_devices(std::string_view text);

/// The visible device of this kind and number; nothing if there is none.
std::optional<Device> find_device(const Device& named, const DeviceOptions& options = {});

/// Cores that two or more of the devices share, which makes these devices slower than the rest;
/// empty if there are none.
std::vector<int> shared_cores(const std::vector<Device>& devices);

}  // namespace pagoda
