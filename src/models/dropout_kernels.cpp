// Built with -O3 and without LibTorch's headers.
#include "models/dropout_kernels.h"

#include "base/vector_clones.h"

namespace pagoda {
namespace {

constexpr std::int64_t kBlock = 1 << 16;  // elements that are numbered in 32 bits

/// All bits of a number mixed (the finalizer of MurmurHash3, by A. Appleby).
PAGODA_INLINE std::uint32_t mixed(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6bU;
  x ^= x >> 13;
  x *= 0xc2b2ae35U;
  return x ^ (x >> 16);
}

/// The same for 64 bits, once a block.
PAGODA_INLINE std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

}  // namespace

PAGODA_VECTOR_CLONES void drop_elements(const DropElements& all) {
  const std::uint32_t dropped = all.dropped;
  const float factor = all.factor;
  for (std::int64_t begin = 0; begin < all.count; begin += kBlock) {
    const std::uint64_t key = mixed(all.seed + mixed(static_cast<std::uint64_t>(begin) + 1));
    const auto low = static_cast<std::uint32_t>(key);
    const auto high = static_cast<std::uint32_t>(key >> 32);
    const std::int64_t left = all.count - begin;
    const auto count = static_cast<std::uint32_t>(left < kBlock ? left : kBlock);
    const float* __restrict values = all.values + begin;
    float* __restrict results = all.results + begin;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t drawn = mixed(mixed(i ^ low) + high);
      const float kept = values[i] * factor;  // always, so that the loop has no branch
      results[i] = drawn >= dropped ? kept : 0.0f;
    }
  }
}

}  // namespace pagoda
