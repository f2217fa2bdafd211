#pragma once

#include <pagoda/device/device.h>

#include <optional>
#include <vector>

namespace pagoda {

/// Where the parameters live, and where they are updated. All placements give the same results.
enum class ParameterPlacement {
  shared,    ///< one copy in CPU memory that all towers use directly; CPU towers only
  mirrored,  ///< a copy on each tower, which updates all of it and keeps the whole optimizer
             ///< state; devices of one kind only
  host,      ///< a master copy in CPU memory, updated there, and a copy on each tower, renewed
             ///< after each update
  spread,    ///< a copy on each tower, which updates its share of it and keeps the optimizer
             ///< state of that share only; the shares are then exchanged
};

/// All placements, for loops.
inline constexpr ParameterPlacement kEveryPlacement[] = {
    ParameterPlacement::shared, ParameterPlacement::mirrored, ParameterPlacement::host,
    ParameterPlacement::spread};

/// "shared", "mirrored", "host", "spread".
const char* placement_name(ParameterPlacement placement);

/// The placement for towers on these devices. If `wanted` is unset, it is shared if all of them
/// compute in CPU memory, and host otherwise.
/// Fails: UsageError if there are no devices, or if one of them does not support the wanted
/// placement.
ParameterPlacement resolve_placement(const std::vector<Device>& devices,
                                     std::optional<ParameterPlacement> wanted);

}  // namespace pagoda
