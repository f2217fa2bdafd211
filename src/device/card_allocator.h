#pragma once

#include <ATen/DeviceAccelerator.h>

namespace pagoda {

/// LibTorch's allocator on cards of this kind, whose statistics can be asked for: the backend is
/// initialised, which devices and generators do not do.
at::DeviceAllocator& card_allocator(c10::Device card);

}  // namespace pagoda
