#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pagoda {

/// What the CUDA driver says about a card and LibTorch's own interface does not, or only after it
/// has opened a context there, which takes hundreds of megabytes.
struct CudaDriverCard {
  std::string name = {};        ///< such as "NVIDIA A10"
  std::string capability = {};  ///< compute capability, such as "8.6"
  std::int64_t memory_bytes = 0;
  std::string uuid = {};  ///< "1b2c…-…" without "GPU-"; empty where the driver tells none
};

/// What became of asking the driver.
struct CudaDriver {
  bool is_installed = false;  ///< its library is there, with all functions that are needed
  int error = 0;              ///< what cuInit answered; 0: the driver works
  int version = 0;            ///< of CUDA, the newest that it runs: 12040 is 12.4
  std::vector<CudaDriverCard> cards = {};
};

/// Opens no context on any card. Needs no CUDA toolkit: the library is opened at run time.
CudaDriver read_cuda_driver(const char* library = "libcuda.so.1");

/// The cards that the driver sees, in its order, which is LibTorch's; none where the library is
/// missing or no driver answers.
std::vector<CudaDriverCard> cuda_driver_cards(const char* library = "libcuda.so.1");

}  // namespace pagoda
