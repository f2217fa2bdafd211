#include <pagoda/base/error.h>
#include <pagoda/tower/parameter_placement.h>

namespace pagoda {

const char* placement_name(ParameterPlacement placement) {
  switch (placement) {
    case ParameterPlacement::shared:
      return "shared";
    case ParameterPlacement::mirrored:
      return "mirrored";
    case ParameterPlacement::host:
      return "host";
    case ParameterPlacement::spread:
      return "spread";
  }
  return "";
}

ParameterPlacement resolve_placement(const std::vector<Device>& devices,
                                     std::optional<ParameterPlacement> wanted) {
  if (devices.empty()) throw UsageError("no device to build a tower on; name at least one");
  const ParameterPlacement placement = wanted.value_or(
      share_memory(devices) ? ParameterPlacement::shared : ParameterPlacement::host);
  for (const Device& device : devices) {
    if (placement == ParameterPlacement::shared && device.kind != DeviceKind::cpu) {
      throw UsageError("parameters cannot be shared with " + device.label() +
                       ", which has memory of its own; place them mirrored, host or spread");
    }
    // Kinds of devices round differently, so that the copies would drift apart.
    if (placement == ParameterPlacement::mirrored && device.kind != devices.front().kind) {
      throw UsageError("parameters cannot be mirrored on " + devices.front().label() + " and " +
                       device.label() + ", devices of two kinds; place them host or spread");
    }
  }
  return placement;
}

}  // namespace pagoda
