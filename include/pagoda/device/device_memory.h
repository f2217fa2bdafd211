#pragma once

#include <pagoda/device/device.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace pagoda {

/// How much of a device's memory its tower may take. CPU towers share the machine's memory: each
/// one's is an equal part of it.
struct MemoryOptions {
  /// Part of each device's memory, above 0 and at most 1; unset: all of it.
  std::optional<double> fraction = std::nullopt;
  /// Bytes on each device, instead of a fraction.
  std::optional<std::int64_t> limit_bytes = std::nullopt;
  /// Off takes the memory at the start, or fails then; on takes it as it is needed.
  bool growth = true;
};

/// The devices with their limits.
/// Fails: UsageError for a fraction or limit out of range, both at once, or a limit above what a
/// device has.
///
/// Example: `auto devices = with_memory(select_devices("sim:4"), {.fraction = 0.7});`
std::vector<Device> with_memory(std::vector<Device> devices, const MemoryOptions& options);

/// What a device's memory looks like, in bytes.
struct MemoryUse {
  std::int64_t total = 0;                            ///< in all
  std::int64_t free = 0;                             ///< of the whole device, by whoever it is used
  std::int64_t in_use = 0;                           ///< by this process's tensors; 0 for CPUs
  std::int64_t peak = 0;                             ///< the most that was in use; 0 for CPUs
  std::optional<std::int64_t> limit = std::nullopt;  ///< what a tower may take
};

/// Of a card: what LibTorch's allocator counts there; of a CUDA card that this process has not used
/// yet, what the driver's management library says, which opens no context. Of a CPU device: what the
/// machine has; what its tower uses is in `TowerGroup::memory`.
MemoryUse memory_use(const Device& device);

/// Bytes that the system could give to this process without swapping: what the machine has left, or
/// what the process's cgroups have left of their limit, as the files under `root` say it.
std::int64_t available_host_bytes(const std::filesystem::path& root = "/");

/// While it lives, the limit of a card holds; memory that does not grow is taken at once. Of CPU
/// devices only the memory is checked; their towers keep the limit. Of several claims on a card the
/// latest that lives counts, and without any all of the card can be used.
///
/// Threads: any. Fails: DeviceError, a MemoryLimitError on a simulated card, when there is not as
/// much.
class MemoryClaim {
 public:
  explicit MemoryClaim(const Device& device);
  ~MemoryClaim();
  MemoryClaim(MemoryClaim&& other) noexcept;
  MemoryClaim& operator=(MemoryClaim&&) = delete;

 private:
  std::optional<Device> card_;  // unset where nothing has to be given back
  std::int64_t number_ = 0;
};

}  // namespace pagoda
