// Only what every build of LibTorch has, so that this file needs neither a CUDA toolkit nor a
// switch.
#include "device/cuda_cards.h"

#include <pagoda/base/error.h>

#include <string>

#include <torch/cuda.h>

#include "device/cuda_driver.h"
#include "device/device_mask.h"

namespace pagoda {

std::vector<int> original_numbers(std::optional<std::string_view> mask, int visible) {
  const auto entries = mask ? parse_mask(*mask, DeviceKind::cuda) : std::nullopt;
  std::vector<int> numbers;
  for (int i = 0; i < visible; ++i) {
    const auto index = static_cast<std::size_t>(i);
    numbers.push_back(!entries ? i : index < entries->size() ? (*entries)[index].number : -1);
  }
  return numbers;
}

std::vector<Device> cuda_cards() {
  std::vector<Device> cards;
  // The driver has masked and renumbered them already; 0 without CUDA or without a driver.
  const auto count = static_cast<int>(torch::cuda::device_count());
  const auto originals = original_numbers(mask_of(DeviceKind::cuda), count);
  const auto known = count > 0 ? cuda_driver_cards() : std::vector<CudaDriverCard>{};
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    if (index >= known.size() || known[index].memory_bytes == 0) {
      throw DeviceError("the CUDA driver tells nothing of card " + std::to_string(i) + " of " +
                        std::to_string(count) + " that LibTorch sees; look at it with nvidia-smi");
    }
    const CudaDriverCard& card = known[index];
    cards.push_back({.kind = DeviceKind::cuda,
                     .index = i,
                     .original = originals[index],
                     .name = card.name,
                     .capability = card.capability,
                     .memory_bytes = card.memory_bytes});
  }
  return cards;
}

}  // namespace pagoda
