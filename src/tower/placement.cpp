#include <pagoda/base/error.h>
#include <pagoda/tower/placement.h>

namespace pagoda {

const char* placement_name(Placement placement) {
  switch (placement) {
    case Placement::shared:
      return "shared";
    case Placement::mirrored:
      return "mirrored";
    case Placement::host:
      return "host";
    case Placement::spread:
      return "spread";
  }
  return "";
}

Placement resolve_placement(const std::vector<Device>& devices, std::optional<Placement> wanted) {
  if (devices.empty()) throw UsageError("no device to build a tower on; name at least one");
  const Placement placement =
      wanted.value_or(share_memory(devices) ? Placement::shared : Placement::host);
  for (const Device& device : devices) {
    if (placement == Placement::shared && device.kind != DeviceKind::cpu) {
      throw UsageError("parameters cannot be shared with " + device.label() +
                       ", which has memory of its own; place them mirrored, host or spread");
    }
    // Kinds of devices round differently, so that the copies would drift apart.
    if (placement == Placement::mirrored && device.kind != devices.front().kind) {
      throw UsageError("parameters cannot be mirrored on " + devices.front().label() + " and " +
                       device.label() + ", devices of two kinds; place them host or spread");
    }
  }
  return placement;
}

}  // namespace pagoda
