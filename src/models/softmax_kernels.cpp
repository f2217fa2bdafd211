// Built with -O3 and without LibTorch's headers.
#include "models/softmax_kernels.h"

#include <limits>

#include "models/vector_math.h"

namespace pagoda {
namespace {

// Sums side by side, so that their order is the same for every instruction set.
constexpr int kLanes = 16;

template <class T>
PAGODA_INLINE T folded_sum(const T* lanes) {
  T sum = 0;
  for (int lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
  return sum;
}

template <class T>
PAGODA_INLINE RowLoss run(const SoftmaxRow<T>& row) {
  T* __restrict logits = row.logits;
  const T* __restrict bias = row.bias;
  const std::int64_t whole = row.count / kLanes * kLanes;

  T highest[kLanes];
  T sums[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    highest[lane] = logits[0] + bias[0];
    sums[lane] = 0;
  }
  const auto meet = [&](std::int64_t i, int lane) {
    const T logit = logits[i] + bias[i];
    logits[i] = logit;
    highest[lane] = logit > highest[lane] ? logit : highest[lane];
    sums[lane] += logit;
  };
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) meet(i + lane, lane);
  }
  for (std::int64_t i = whole; i < row.count; ++i) meet(i, static_cast<int>(i - whole));
  T top = highest[0];
  for (int lane = 1; lane < kLanes; ++lane) top = highest[lane] > top ? highest[lane] : top;
  const T logit_sum = folded_sum(sums);
  const T target_logit = logits[row.target];

  for (int lane = 0; lane < kLanes; ++lane) sums[lane] = 0;
  const auto raise = [&](std::int64_t i, int lane) {
    const T below = logits[i] - top;
    const T power = below == -std::numeric_limits<T>::infinity() ? T(0) : vector_exp(below);
    logits[i] = power;
    sums[lane] += power;
  };
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) raise(i + lane, lane);
  }
  for (std::int64_t i = whole; i < row.count; ++i) raise(i, static_cast<int>(i - whole));
  const T power_sum = folded_sum(sums);

  if (row.scale != 0) {
    T* __restrict grad_bias = row.grad_bias;
    const T factor = row.scale / power_sum;
    const T spread = row.scale * row.smoothing / static_cast<T>(row.count);
    for (std::int64_t i = 0; i < row.count; ++i) {
      const T gradient = logits[i] * factor - spread;
      logits[i] = gradient;
      grad_bias[i] += gradient;
    }
    const T of_target = row.scale * (T(1) - row.smoothing);
    logits[row.target] -= of_target;
    grad_bias[row.target] -= of_target;
  }
  const double log_sum = std::log(static_cast<double>(power_sum)) + static_cast<double>(top);
  const double likelihood = static_cast<double>(target_logit) - log_sum;
  const double mean = static_cast<double>(logit_sum) / static_cast<double>(row.count) - log_sum;
  const double smoothing = static_cast<double>(row.smoothing);
  // Without smoothing the mean does not count, also where it is infinite.
  const double smoothed = smoothing == 0 ? 0 : smoothing * mean;
  return {-(1 - smoothing) * likelihood - smoothed, -likelihood};
}

}  // namespace

PAGODA_VECTOR_CLONES RowLoss run_row(const SoftmaxRow<float>& row) { return run(row); }
PAGODA_VECTOR_CLONES RowLoss run_row(const SoftmaxRow<double>& row) { return run(row); }

}  // namespace pagoda
