#pragma once

#include <pagoda/device/device.h>

#include <cstdint>

namespace pagoda {

/// What LibTorch's allocator takes at most on this card, and on no other, from now on.
/// Fails: DeviceError in a library that was built without CUDA's headers.
void limit_cuda_card(const Device& card, std::int64_t bytes);

}  // namespace pagoda
