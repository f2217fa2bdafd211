#pragma once

#include <pagoda/device/device.h>

namespace pagoda {

/// Gives the calling thread, and the threads with which it computes, the cores of a CPU device: as
/// many threads as cores, on these cores only where the device is pinned. Call it before anything
/// is computed in the thread. An OpenMP that binds threads by itself (OMP_PROC_BIND) is overruled.
/// Fails: DeviceError when the device has no cores, or, with their numbers, when the system
/// refuses.
void take_cores(const Device& device);

}  // namespace pagoda
