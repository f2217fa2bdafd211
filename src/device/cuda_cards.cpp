// Only what every build of LibTorch has, so that this file needs neither a CUDA toolkit nor a
// switch.
#include "device/cuda_cards.h"

#include <ATen/DeviceAccelerator.h>
#include <torch/cuda.h>

namespace pagoda {

std::vector<Device> cuda_cards() {
  std::vector<Device> cards;
  const int count = torch::cuda::device_count();  // 0 without CUDA or without a driver
  for (int i = 0; i < count; ++i) {
    const auto [free_bytes, total_bytes] =
        at::getDeviceAllocator(at::kCUDA)->getMemoryInfo(static_cast<c10::DeviceIndex>(i));
    cards.push_back({.kind = DeviceKind::cuda,
                     .index = i,
                     .original = i,
                     .name = "CUDA card",
                     .memory_bytes = static_cast<std::int64_t>(total_bytes)});
  }
  return cards;
}

}  // namespace pagoda
