#pragma once

#include <pagoda/device/device.h>

#include <vector>

namespace pagoda {

/// The CUDA cards that this process sees, in CUDA's own order after CUDA_VISIBLE_DEVICES; none when
/// LibTorch was built without CUDA or no driver answers.
std::vector<Device> cuda_cards();

}  // namespace pagoda
