#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pagoda {

/// What the CUDA driver says about a card and LibTorch's own interface does not, or only after it
/// has opened a context there, which takes hundreds of megabytes.
struct CudaDriverCard {
  std::string name;        ///< such as "NVIDIA A10"
  std::string capability;  ///< compute capability, such as "8.6"
  std::int64_t memory_bytes = 0;
};

/// The cards that the driver sees, in its order, which is LibTorch's; none where the library is
/// missing or no driver answers. Needs no CUDA toolkit: the library is opened at run time.
std::vector<CudaDriverCard> cuda_driver_cards(const char* library = "libcuda.so.1");

}  // namespace pagoda
