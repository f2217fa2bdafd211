#pragma once

#include <pagoda/run/device_choice.h>
#include <pagoda/world/world.h>

#include <vector>

#include "bench/ways.h"

namespace pagoda::app {

/// Every way that each of several processes can train with all of its devices, in the same order at
/// each: towers of 1, 2, 4, … cores where `choice` leaves the cores to the processes, otherwise the
/// towers that it names; and for each those of `ways_on`. `exchange` is that of all ways.
///
/// All call it together. `chosen` are the devices of this process by its choice.
/// Fails: UsageError when the processes have no way in common; WorldError.
std::vector<Way> ways_of_all(World& world, const DeviceChoice& choice,
                             const std::vector<Device>& chosen, int layers,
                             const WayTogether& exchange);

/// The way itself, and then those with other wires and steps between meetings, which compute other
/// numbers. Where the way's parameters are spread, those that meet seldom are like `whole`, whose
/// are not.
std::vector<Way> with_exchanges(const Way& way, const Way& whole);

/// "--wire bf16", "--parameters shared --sync-every 50": what `pagoda train` has to be told besides.
std::string difference_text(const Way& way, const Way& from);

}  // namespace pagoda::app
