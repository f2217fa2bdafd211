#include "memory_flags.h"

#include <pagoda/base/byte_size.h>

#include <map>

namespace pagoda::app {

void add_memory_flags(CLI::App& command, MemoryFlags& flags) {
  auto* fraction =
      command
          .add_option(
              "--memory-fraction", flags.fraction,
              "part of each device's memory that its tower may take, such as 0.7 (default: all)")
          ->group("Devices");
  command
      .add_option("--memory-limit", flags.limit,
                  "memory that each device's tower may take, such as 2GiB (default: all)")
      ->excludes(fraction)
      ->group("Devices");
  const std::map<std::string, bool> on_off{{"on", true}, {"off", false}};
  command
      .add_option("--memory-growth", flags.growth,
                  "on: take memory as it is needed; off: take it all at the start")
      ->transform(CLI::CheckedTransformer(on_off))
      ->option_text(std::string("on|off=") + (flags.growth ? "on" : "off"))
      ->group("Devices");
}

std::vector<Device> with_memory(std::vector<Device> devices, const MemoryFlags& flags) {
  MemoryOptions options{.fraction = flags.fraction, .growth = flags.growth};
  if (!flags.limit.empty()) options.limit_bytes = parse_bytes(flags.limit);
  return pagoda::with_memory(std::move(devices), options);
}

std::string memory_text(const Device& device, const MemoryUse& use) {
  std::string text =
      device.label() + " " + bytes_text(use.in_use) + " (peak " + bytes_text(use.peak) + ")";
  if (use.limit) text += " of " + bytes_text(*use.limit);
  return text;
}

}  // namespace pagoda::app
