#pragma once

#include <pagoda/device/device_memory.h>

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace pagoda::app {

/// --memory-fraction, --memory-limit and --memory-growth: what each device's tower may take.
struct MemoryFlags {
  std::optional<double> fraction;
  std::string limit;  ///< a size such as "2GiB"; empty: none
  bool growth = MemoryOptions{}.growth;
};
void add_memory_flags(CLI::App& command, MemoryFlags& flags);

/// The devices with the limits that the flags give them.
/// Fails: UsageError for a limit that cannot be.
std::vector<Device> with_memory(std::vector<Device> devices, const MemoryFlags& flags);

/// "sim:0 1.2 GiB (peak 1.5 GiB) of 2.0 GiB": a tower's use for the log and the summary.
std::string memory_text(const Device& device, const MemoryUse& use);

}  // namespace pagoda::app
