#pragma once

#include <pagoda/device/device.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace pagoda {

/// How much of a device's memory its tower may use. CPU towers share the machine's memory: each has
/// an equal part of it.
struct MemoryOptions {
  /// Fraction of each device's memory, above 0 and at most 1; unset: all of it.
  std::optional<double> fraction = std::nullopt;
  /// Bytes on each device, instead of a fraction.
  std::optional<std::int64_t> limit_bytes = std::nullopt;
  /// Whether memory is taken as it is needed. Off: it is taken at the start, which fails if there
  /// is not enough.
  bool growth = true;
};

/// The devices with these limits.
/// Fails: UsageError for a fraction or limit out of range, for both at once, or for a limit above
/// what a device has.
///
/// Example: `auto devices = with_memory(select_devices("sim:4"), {.fraction = 0.7});`
std::vector<Device> with_memory(std::vector<Device> devices, const MemoryOptions& options);

/// The state of a device's memory, in bytes.
struct MemoryUse {
  std::int64_t total = 0;                            ///< total memory
  std::int64_t free = 0;                             ///< free on the device, whoever uses the rest
  std::int64_t in_use = 0;                           ///< used by tensors of this process
  std::int64_t peak = 0;                             ///< highest `in_use` so far
  std::optional<std::int64_t> limit = std::nullopt;  ///< what a tower may use
};

/// For a card: what LibTorch's allocator reports; for a CUDA card that this process has not used
/// yet, what the driver's management library reports, which opens no context. For a CPU device:
/// what the machine has, without `in_use` and `peak`, which are in `TowerGroup::memory`.
MemoryUse memory_use(const Device& device);

/// Bytes that the system could give to this process without swapping: what the machine has left, or
/// what the process's cgroups have left of their limits if that is less, read from the files under
/// `root`.
std::int64_t available_host_bytes(const std::filesystem::path& root = "/");

/// While it lives, the memory limit of a card is in force; memory that does not grow is taken at
/// construction. For a CPU device it only checks that there is enough memory; its tower enforces
/// the limit. If there are several claims on a card, the most recent one counts; without any, the
/// whole card can be used.
///
/// Threads: any.
/// Fails: DeviceError if a limit cannot be set, or if there is not enough memory (on a simulated
/// card a MemoryLimitError). On a CUDA card without enough memory, LibTorch's own OutOfMemoryError.
class MemoryClaim {
 public:
  explicit MemoryClaim(const Device& device);
  ~MemoryClaim();
  MemoryClaim(MemoryClaim&& other) noexcept;
  MemoryClaim& operator=(MemoryClaim&&) = delete;

 private:
  std::optional<Device> card_;  // unset if nothing has to be given back
  std::int64_t number_ = 0;
};

}  // namespace pagoda
