#pragma once

#include <cstdint>

namespace pagoda {

/// Element i of `values` times `factor`, or 0 where a function of `seed` and i says so, which it does with a
/// chance of `dropped` in 2³².
struct DropElements {
  const float* values;
  std::int64_t count;
  std::uint64_t seed;
  std::uint32_t dropped;
  float factor;
  float* results;
};
void drop_elements(const DropElements& all);

}  // namespace pagoda
