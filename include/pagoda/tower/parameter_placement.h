#pragma once

#include <pagoda/device/device.h>

#include <optional>
#include <vector>

namespace pagoda {

/// Where the parameters live, and where they are updated. All give the same results.
enum class ParameterPlacement {
  shared,    ///< one copy in CPU memory that all towers use directly; CPU towers only
  mirrored,  ///< a copy on each tower, which updates all of it and keeps all of the optimizer's
             ///< state; devices of one kind only
  host,      ///< the master copy in CPU memory, updated there, and a copy on each tower that is
             ///< renewed after an update
  spread,    ///< a copy on each tower, which updates its share of it and keeps the optimizer's
             ///< state of that share only; the shares are then exchanged
};

/// All of them, for loops.
inline constexpr ParameterPlacement kEveryPlacement[] = {
    ParameterPlacement::shared, ParameterPlacement::mirrored, ParameterPlacement::host,
    ParameterPlacement::spread};

/// "shared", "mirrored", "host", "spread".
const char* placement_name(ParameterPlacement placement);

/// The placement for towers on these devices. Without a wish it is shared where all of them compute
/// in the CPU's memory, host otherwise.
/// Fails: UsageError when a device cannot do what is wished, or there is none.
ParameterPlacement resolve_placement(const std::vector<Device>& devices,
                                     std::optional<ParameterPlacement> wanted);

}  // namespace pagoda
