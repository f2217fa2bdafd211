#pragma once

#include <pagoda/device/device.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Whether the threads of a CPU device are bound to its cores.
enum class Pin {
  automatic,  ///< where the process owns them: no CPU quota gives it less than its affinity mask
  on,
  off,  ///< the system chooses; a device's cores are a number only
};

/// How the CPU is divided into devices.
struct DeviceOptions {
  /// Cores of each CPU device; unset divides all cores evenly among the devices.
  std::optional<int> cores_per_tower = std::nullopt;
  Pin pin = Pin::automatic;  ///< whether their threads are bound to their cores
};

/// Devices without `cores_per_tower`: one for each core, but no more than this many, because each
/// further tower costs a copy of the gradients. `pagoda bench` finds what is best for a model.
inline constexpr int kDefaultCpuDevices = 8;

/// CPU devices that a caller may ask for at most; a larger number is taken for a slip.
inline constexpr int kMostCpuDevices = 1024;

/// What the process may use when the caller does not choose: all cards if there are any (simulated
/// ones where there is no CUDA card), otherwise the CPU's cores as `cpu:0`, `cpu:1`, …
/// CUDA_VISIBLE_DEVICES hides and renumbers CUDA cards, PAGODA_VISIBLE_DEVICES the other kinds by
/// the same rules (docs/devices.md).
/// Fails: UsageError on a bad option; DeviceError when the machine cannot be read.
std::vector<Device> visible_devices(const DeviceOptions& options = {});

/// Everything the process may use, cards first, then the CPU: the list that `pagoda devices`
/// prints.
std::vector<Device> list_devices(const DeviceOptions& options = {});

/// The devices that a text names, in its order:
///
///     all           what visible_devices() gives
///     cpu, cuda     every device of that kind
///     sim:4         four simulated cards, set up if there are none yet (see sim_devices.h)
///     4             so many devices: cards if there are any, otherwise the CPU's cores in 4 groups
///     cuda:0,1      these cards; a bare number keeps the kind before it
///     cpu:0,cpu:1   these groups of cores
///     sim:0,sim:2   these simulated cards; `sim:0-3` is a range, here and for the other kinds
///
/// More CPU devices than cores are allowed; the cores are then shared (see `shared_cores`).
/// Fails: UsageError that names the bad part: unknown, missing, or listed twice.
std::vector<Device> select_devices(std::string_view text, const DeviceOptions& options = {});

/// The devices of a list such as "sim:0,sim:2", with kind and number only: they need not be there.
/// Fails: UsageError for any other text.
std::vector<Device> named_devices(std::string_view text);

/// The visible device of this kind and number; nothing when it is not there.
std::optional<Device> find_device(const Device& named, const DeviceOptions& options = {});

/// Cores that two or more of the devices have in common, which makes these devices slower than the
/// rest; empty when there are none.
std::vector<int> shared_cores(const std::vector<Device>& devices);

}  // namespace pagoda
