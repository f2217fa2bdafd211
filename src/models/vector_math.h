#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/vector_clones.h"

namespace pagoda {

// exp and its relatives in a form that a compiler turns into vector instructions. For float within
// two units in the last place of exp; for double the C library's.

PAGODA_INLINE double vector_exp(double x) { return std::exp(x); }

PAGODA_INLINE float vector_exp(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  // Adding 1.5 * 2^23 rounds to whole numbers.
  constexpr float kRound = 12582912.0f;
  const float shifted = x * 1.44269504f + kRound;
  const float whole = shifted - kRound;
  const float rest = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
  // e^rest for |rest| <= ln(2) / 2 (Cephes' polynomial).
  float series = 1.9875691500e-4f;
  series = series * rest + 1.3981999507e-3f;
  series = series * rest + 8.3334519073e-3f;
  series = series * rest + 4.1665795894e-2f;
  series = series * rest + 1.6666665459e-1f;
  series = series * rest + 5.0000001201e-1f;
  series = series * rest * rest + rest + 1.0f;
  const std::int32_t exponent =
      (std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRound) + 127) << 23;
  return series * std::bit_cast<float>(exponent);
}

template <class T>
PAGODA_INLINE T vector_sigmoid(T x) {
  return T(1) / (T(1) + vector_exp(-x));
}

PAGODA_INLINE double vector_tanh(double x) { return std::tanh(x); }

PAGODA_INLINE float vector_tanh(float x) { return 2.0f / (1.0f + vector_exp(-2.0f * x)) - 1.0f; }

}  // namespace pagoda
