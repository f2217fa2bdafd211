#pragma once

namespace pagoda {

/// Makes LibTorch know the device `sim`: name, allocator, current device, streams and generators.
/// Once for the process. Fails: DeviceError when the process has another PrivateUse1 backend.
void register_sim_backend();

}  // namespace pagoda
