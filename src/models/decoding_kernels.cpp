// Built with -O3 and without LibTorch's headers.
#include "models/decoding_kernels.h"

#include <algorithm>
#include <limits>

#include "models/vector_math.h"

namespace pagoda {
namespace {

// Sums side by side, so that their order is the same for every instruction set.
constexpr int kLanes = 16;
constexpr std::int64_t kBlock = 64;  // values whose greatest is looked at first

template <class T>
PAGODA_INLINE T greatest(const T* values, std::int64_t count) {
  T lanes[kLanes];
  for (T& lane : lanes) lane = -std::numeric_limits<T>::infinity();
  const std::int64_t whole = count / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane)
      lanes[lane] = values[i + lane] > lanes[lane] ? values[i + lane] : lanes[lane];
  }
  T best = lanes[0];
  for (int lane = 1; lane < kLanes; ++lane) best = lanes[lane] > best ? lanes[lane] : best;
  for (std::int64_t i = whole; i < count; ++i) best = values[i] > best ? values[i] : best;
  return best;
}

/// Puts a place behind those that are at least as great, and drops the last.
template <class T>
PAGODA_INLINE void insert(const TopOfRow<T>& row, std::int64_t place) {
  std::int64_t i = row.best - 1;
  while (i > 0 && (row.places[i - 1] < 0 || row.values[row.places[i - 1]] < row.values[place])) {
    row.places[i] = row.places[i - 1];
    --i;
  }
  row.places[i] = place;
}

template <class T>
PAGODA_INLINE void find(const TopOfRow<T>& row) {
  std::fill_n(row.places, row.best, std::int64_t{-1});
  T least = -std::numeric_limits<T>::infinity();  // of the best so far
  for (std::int64_t begin = 0; begin < row.count; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, row.count - begin);
    if (!(greatest(row.values + begin, count) > least)) continue;
    for (std::int64_t i = begin; i < begin + count; ++i) {
      if (!(row.values[i] > least)) continue;
      insert(row, i);
      const std::int64_t last = row.places[row.best - 1];
      if (last >= 0) least = row.values[last];
    }
  }
}

template <class T>
PAGODA_INLINE double log_sum(const T* values, std::int64_t count) {
  const T top = greatest(values, count);
  T sums[kLanes] = {};
  const std::int64_t whole = count / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += vector_exp(values[i + lane] - top);
  }
  for (std::int64_t i = whole; i < count; ++i) sums[i - whole] += vector_exp(values[i] - top);
  double sum = 0;
  for (const T lane : sums) sum += static_cast<double>(lane);
  return static_cast<double>(top) + std::log(sum);
}

template <class T>
PAGODA_INLINE T dot(const T* a, const T* b, std::int64_t count) {
  T lanes[kLanes] = {};
  const std::int64_t whole = count / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  T sum = 0;
  for (std::int64_t i = whole; i < count; ++i) sum += a[i] * b[i];
  for (const T lane : lanes) sum += lane;
  return sum;
}

/// Scores become shares that sum to 1.
template <class T>
PAGODA_INLINE void make_shares(T* scores, std::int64_t count) {
  const T top = greatest(scores, count);
  T sum = 0;
  for (std::int64_t i = 0; i < count; ++i) scores[i] = vector_exp(scores[i] - top);
  for (std::int64_t i = 0; i < count; ++i) sum += scores[i];
  for (std::int64_t i = 0; i < count; ++i) scores[i] /= sum;
}

template <class T>
PAGODA_INLINE void attend(const AttendOne<T>& one) {
  const T scale = T(1) / std::sqrt(static_cast<T>(one.size));
  if (one.weights != nullptr) std::fill_n(one.weights, one.places, 0.0);
  for (std::int64_t head = 0; head < one.heads; ++head) {
    const std::int64_t offset = head * one.size;
    for (std::int64_t i = 0; i < one.places; ++i)
      one.scratch[i] = scale * dot(one.query + offset, one.keys[i] + offset, one.size);
    make_shares(one.scratch, one.places);
    T* __restrict result = one.result + offset;
    std::fill_n(result, one.size, T(0));
    for (std::int64_t i = 0; i < one.places; ++i) {
      const T share = one.scratch[i];
      const T* __restrict value = one.values[i] + offset;
      for (std::int64_t n = 0; n < one.size; ++n) result[n] += share * value[n];
    }
    if (one.weights == nullptr) continue;
    for (std::int64_t i = 0; i < one.places; ++i)
      one.weights[i] += static_cast<double>(one.scratch[i]) / static_cast<double>(one.heads);
  }
}

}  // namespace

PAGODA_VECTOR_CLONES void find_top(const TopOfRow<float>& row) { find(row); }
PAGODA_VECTOR_CLONES void find_top(const TopOfRow<double>& row) { find(row); }

PAGODA_VECTOR_CLONES double log_sum_exp(const float* values, std::int64_t count) {
  return log_sum(values, count);
}
PAGODA_VECTOR_CLONES double log_sum_exp(const double* values, std::int64_t count) {
  return log_sum(values, count);
}

PAGODA_VECTOR_CLONES void attend_one(const AttendOne<float>& one) { attend(one); }
PAGODA_VECTOR_CLONES void attend_one(const AttendOne<double>& one) { attend(one); }

}  // namespace pagoda
