#pragma once

#include <pagoda/device/device.h>

#include <optional>
#include <string_view>
#include <vector>

namespace pagoda {

/// The CUDA cards that this process sees, in CUDA's own order after CUDA_VISIBLE_DEVICES; none when
/// LibTorch was built without CUDA or no driver answers. Opens no context on any.
/// Fails: DeviceError for a card of which the driver tells nothing.
std::vector<Device> cuda_cards();

/// The numbers that the system's tools give to `visible` cards, which a mask has left; -1 for one
/// that the mask names by UUID.
std::vector<int> original_numbers(std::optional<std::string_view> mask, int visible);

}  // namespace pagoda
