#include <pagoda/base/error.h>

#include "device/cuda_limit.h"

namespace pagoda {

void limit_cuda_card(const Device& card, std::int64_t bytes) {
  if (bytes >= card.memory_bytes) return;
  throw DeviceError("the memory of " + card.label() +
                    " cannot be limited: the library was built without CUDA's headers (see "
                    "docs/cuda.md); leave the limit out");
}

}  // namespace pagoda
