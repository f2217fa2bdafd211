#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <c10/core/Device.h>

namespace pagoda {

enum class DeviceKind { cpu, cuda };

/// Something that computes with its own cores or memory: a group of CPU cores or a card.
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;          ///< number among the visible devices of its kind, from 0
  int original = 0;       ///< number before masking: what the system's own tools show
  std::string name = {};  ///< what a person calls it, such as the processor's or card's model name
  std::vector<int> cores = {};    ///< operating-system numbers of its cores; empty for cards
  std::int64_t memory_bytes = 0;  ///< memory in all, in bytes

  /// The name on the command line and in the log: "cpu:1", "cuda:0".
  std::string label() const;

  /// Where LibTorch puts this device's tensors. All CPU devices share one memory.
  c10::Device torch_device() const;
};

/// "cpu" or "cuda".
const char* kind_name(DeviceKind kind);

}  // namespace pagoda
