#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pagoda {

/// Bytes of a CUDA card that nobody uses, by NVIDIA's management library (NVML), which comes with the
/// driver and opens no context on the card; `uuid` as CudaDriverCard has it. Nothing where the
/// library is missing or does not know the card.
std::optional<std::int64_t> card_free_memory(const std::string& uuid,
                                             const char* library = "libnvidia-ml.so.1");

}  // namespace pagoda
