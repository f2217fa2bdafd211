#pragma once

#include <pagoda/device/device.h>
#include <pagoda/world/world.h>

#include <vector>

namespace pagoda {

/// Whether no other process on this machine has any core or card of these: its launcher (srun, mpirun)
/// has given each its own, and there is nothing left to divide. All processes call it together; one
/// that brings no devices shares none.
/// Fails: WorldError.
bool has_own_devices(World& world, const std::vector<Device>& devices);

}  // namespace pagoda
