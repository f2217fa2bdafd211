// Built with -O3 and without LibTorch's headers.
#include "params/span_kernels.h"

#include "base/vector_clones.h"

namespace pagoda {
namespace {

template <class T>
PAGODA_INLINE void scale(T* __restrict out, const T* __restrict in, T weight, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = weight * in[i];
}

template <class T>
PAGODA_INLINE void add(T* __restrict out, const T* __restrict in, T weight, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] += weight * in[i];
}

/// Eight sums side by side, so that the order of the additions, and with it the result, is the same
/// for every instruction set.
template <class Value>
PAGODA_INLINE double sum_of_squares(std::int64_t count, Value value) {
  double sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane) sums[lane] += value(i + lane) * value(i + lane);
  }
  for (int lane = 0; i < count; ++i, ++lane) sums[lane] += value(i) * value(i);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <class T>
PAGODA_INLINE double squares(const T* values, std::int64_t count) {
  return sum_of_squares(count, [=](std::int64_t i) { return static_cast<double>(values[i]); });
}

template <class T>
PAGODA_INLINE double squares(const T* gradient, const T* parameter, double l2, std::int64_t count) {
  return sum_of_squares(count, [=](std::int64_t i) {
    return static_cast<double>(gradient[i]) + l2 * static_cast<double>(parameter[i]);
  });
}

}  // namespace

PAGODA_VECTOR_CLONES void scale_span(float* out, const float* in, float weight,
                                     std::int64_t count) {
  scale(out, in, weight, count);
}
PAGODA_VECTOR_CLONES void scale_span(double* out, const double* in, double weight,
                                     std::int64_t count) {
  scale(out, in, weight, count);
}
PAGODA_VECTOR_CLONES void add_span(float* out, const float* in, float weight, std::int64_t count) {
  add(out, in, weight, count);
}
PAGODA_VECTOR_CLONES void add_span(double* out, const double* in, double weight,
                                   std::int64_t count) {
  add(out, in, weight, count);
}
PAGODA_VECTOR_CLONES double square_sum(const float* values, std::int64_t count) {
  return squares(values, count);
}
PAGODA_VECTOR_CLONES double square_sum(const double* values, std::int64_t count) {
  return squares(values, count);
}
PAGODA_VECTOR_CLONES double square_sum(const float* gradient, const float* parameter, double l2,
                                       std::int64_t count) {
  return squares(gradient, parameter, l2, count);
}
PAGODA_VECTOR_CLONES double square_sum(const double* gradient, const double* parameter, double l2,
                                       std::int64_t count) {
  return squares(gradient, parameter, l2, count);
}

}  // namespace pagoda
