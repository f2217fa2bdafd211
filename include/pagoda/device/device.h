#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <c10/core/Device.h>

namespace pagoda {

/// The kind of a device.
enum class DeviceKind {
  cpu,   ///< a group of the processor's cores
  cuda,  ///< an NVIDIA card
  sim,   ///< a simulated card (see sim_devices.h)
};

/// Something that computes with its own cores or memory: a group of CPU cores or a card.
struct Device {
  DeviceKind kind = DeviceKind::cpu;  ///< its kind
  int index = 0;                      ///< number among the visible devices of its kind, from 0
  /// Number before masking, as the system's own tools show it; -1 if a mask names it by UUID.
  int original = 0;
  /// Name for people, such as the model name of the processor or card.
  std::string name = {};
  std::vector<int> cores = {};  ///< operating-system numbers of its cores; empty for cards
  /// Whether a CPU device's threads are bound to `cores`; otherwise only the number of cores
  /// counts.
  bool pinned = true;
  std::string capability = {};    ///< a CUDA card's compute capability, such as "8.6"
  std::int64_t memory_bytes = 0;  ///< total memory, in bytes
  /// What its tower's tensors may use, in bytes (see device_memory.h); unset: all of it.
  std::optional<std::int64_t> memory_limit = std::nullopt;
  bool memory_growth = true;  ///< off: its memory is reserved when its tower is built

  /// Its name on the command line and in the log: "cpu:1", "cuda:0", "sim:2".
  std::string label() const;

  /// Where LibTorch puts this device's tensors. All CPU devices share one memory.
  c10::Device torch_device() const;
};

/// "cpu", "cuda" or "sim".
const char* kind_name(DeviceKind kind);

/// Whether all of these devices compute in CPU memory.
bool share_memory(const std::vector<Device>& devices);

}  // namespace pagoda
