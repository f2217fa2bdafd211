// Built with -O3 and without LibTorch's headers.
#include "models/decoding_kernels.h"

#include <algorithm>
#include <cmath>
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

/// 32 bytes of numbers; the compiler makes as few vector instructions of an operation as it can.
template <class T>
struct VectorOf {
  static constexpr std::int64_t kWidth = 32 / sizeof(T);
  typedef T Type __attribute__((vector_size(32), aligned(alignof(T)), may_alias));
};
template <class T>
using Vector = typename VectorOf<T>::Type;

template <class T>
PAGODA_INLINE const Vector<T>& vector_at(const T* values) {
  return *reinterpret_cast<const Vector<T>*>(values);
}

/// In halves, an order that every instruction set keeps.
PAGODA_INLINE double sum_of(const Vector<double>& v) {
  const auto two = __builtin_shufflevector(v, v, 0, 1) + __builtin_shufflevector(v, v, 2, 3);
  return two[0] + two[1];
}
PAGODA_INLINE float sum_of(const Vector<float>& v) {
  const auto four =
      __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
  const auto two =
      __builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3);
  return two[0] + two[1];
}

template <class T>
PAGODA_INLINE T dot(const T* a, const T* b, std::int64_t count) {
  constexpr std::int64_t kWidth = VectorOf<T>::kWidth;
  Vector<T> sums = {};
  const std::int64_t whole = count / kWidth * kWidth;
  for (std::int64_t i = 0; i < whole; i += kWidth) sums += vector_at(a + i) * vector_at(b + i);
  T sum = sum_of(sums);
  for (std::int64_t i = whole; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/// Scores become shares that sum to 1; `count` is a whole number of vectors.
template <class T>
PAGODA_INLINE void make_shares(T* scores, std::int64_t count) {
  constexpr std::int64_t kWidth = VectorOf<T>::kWidth;
  const T top = greatest(scores, count);
  T sums[kWidth] = {};
  for (std::int64_t i = 0; i < count; i += kWidth) {
    for (std::int64_t lane = 0; lane < kWidth; ++lane) {
      scores[i + lane] = vector_exp(scores[i + lane] - top);
      sums[lane] += scores[i + lane];
    }
  }
  const T factor = 1 / sum_of(vector_at(sums));
  for (std::int64_t i = 0; i < count; ++i) scores[i] *= factor;
}

PAGODA_INLINE float greatest_magnitude(const float* values, std::int64_t count) {
  constexpr std::int64_t kWidth = VectorOf<float>::kWidth;
  Vector<float> tops = {};
  const std::int64_t whole = count / kWidth * kWidth;
  for (std::int64_t i = 0; i < whole; i += kWidth) {
    const Vector<float>& now = vector_at(values + i);
    const Vector<float> size = now < 0 ? -now : now;
    tops = size > tops ? size : tops;
  }
  float best = 0;
  for (std::int64_t lane = 0; lane < kWidth; ++lane) best = tops[lane] > best ? tops[lane] : best;
  for (std::int64_t i = whole; i < count; ++i)
    best = std::fabs(values[i]) > best ? std::fabs(values[i]) : best;
  return best;
}

/// The sum of the values by their shares, `count` vectors from `place` on: side by side, because each
/// addition waits for the one before it.
template <int count, class T>
PAGODA_INLINE void add_vectors(const AttendOne<T>& one, std::int64_t place) {
  constexpr std::int64_t kWidth = VectorOf<T>::kWidth;
  Vector<T> sums[count] = {};
  for (std::int64_t i = 0; i < one.places; ++i) {
    const T* value = one.values[i] + place;
    for (int v = 0; v < count; ++v) sums[v] += one.scratch[i] * vector_at(value + v * kWidth);
  }
  for (int v = 0; v < count; ++v) {
    for (std::int64_t lane = 0; lane < kWidth; ++lane)
      one.result[place + v * kWidth + lane] = sums[v][lane];
  }
}

template <class T>
PAGODA_INLINE void add_values(const AttendOne<T>& one, std::int64_t offset) {
  constexpr std::int64_t kWidth = VectorOf<T>::kWidth;
  std::int64_t n = 0;
  for (; n + 4 * kWidth <= one.size; n += 4 * kWidth) add_vectors<4>(one, offset + n);
  for (; n + kWidth <= one.size; n += kWidth) add_vectors<1>(one, offset + n);
  for (; n < one.size; ++n) {
    T sum = 0;
    for (std::int64_t i = 0; i < one.places; ++i) sum += one.scratch[i] * one.values[i][offset + n];
    one.result[offset + n] = sum;
  }
}

/// Into the second cache, which can wait for more lines at once than the first: that is three times as fast.
template <class T>
PAGODA_INLINE void ask_for(const T* values, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  for (std::int64_t i = 0; i < count; i += kLine)
    __builtin_prefetch(values + i, /*write=*/0, /*locality=*/2);
}

template <class T>
PAGODA_INLINE void attend(const AttendOne<T>& one) {
  const T scale = T(1) / std::sqrt(static_cast<T>(one.size));
  const std::int64_t padded = attention_scratch<T>(one.places);
  if (one.weights != nullptr) std::fill_n(one.weights, one.places, 0.0);
  for (std::int64_t head = 0; head < one.heads; ++head) {
    const std::int64_t offset = head * one.size;
    for (std::int64_t i = 0; i < one.places; ++i) {
      if (i < one.next_places) {
        ask_for(one.next_keys[i] + offset, one.size);
        ask_for(one.next_values[i] + offset, one.size);
      }
      one.scratch[i] = scale * dot(one.query + offset, one.keys[i] + offset, one.size);
    }
    // Of no weight: e to this power is nothing beside the greatest score.
    std::fill(one.scratch + one.places, one.scratch + padded, -std::numeric_limits<T>::infinity());
    make_shares(one.scratch, padded);
    add_values(one, offset);
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

PAGODA_VECTOR_CLONES void scale_rows(const ScaleRows& all) {
  for (std::int64_t row = 0; row < all.rows; ++row) {
    const float* __restrict values = all.values + row * all.width;
    float* __restrict scaled = all.scaled + row * all.width;
    const float top = greatest_magnitude(values, all.width);
    const float factor = top > 0 ? 1 / top : 0;
    for (std::int64_t i = 0; i < all.width; ++i) scaled[i] = values[i] * factor;
    all.greatest[row] = top;
  }
}

PAGODA_VECTOR_CLONES void unscale_rows(const UnscaleRows& all) {
  const float* __restrict bias = all.bias;
  for (std::int64_t row = 0; row < all.rows; ++row) {
    float* __restrict values = all.values + row * all.width;
    const float factor = all.factors[row];
    for (std::int64_t i = 0; i < all.width; ++i) values[i] = values[i] * factor + bias[i];
  }
}

}  // namespace pagoda
