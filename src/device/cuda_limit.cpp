// Built only with a CUDA build of LibTorch and CUDA's headers; cuda_limit_missing.cpp takes its place
// otherwise.
#include "device/cuda_limit.h"

#include <algorithm>

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>

namespace pagoda {

void limit_cuda_card(const Device& card, std::int64_t bytes) {
  const auto index = card.torch_device().index();
  at::globalContext().lazyInitDevice(c10::kCUDA);
  if (bytes >= card.memory_bytes &&
      c10::cuda::CUDACachingAllocator::getMemoryFraction(index) == 1)
    return;  // asking the card would open a context on it
  const c10::cuda::CUDAGuard guard(index);  // the allocator asks the current card how much it has
  const double fraction = static_cast<double>(bytes) / static_cast<double>(card.memory_bytes);
  c10::cuda::CUDACachingAllocator::setMemoryFraction(std::min(fraction, 1.0), index);
}

}  // namespace pagoda
