#pragma once

#include <cstdint>

namespace pagoda {

template <class T>
struct SoftmaxRow {
  T* logits;  ///< without bias in; the loss's gradient by them out, if `scale` is not 0
  const T* bias;
  T* grad_bias;  ///< the gradient is added to it
  std::int64_t count;
  std::int64_t target;
  T smoothing;
  T scale;  ///< of the gradient; 0 computes none
};

struct RowLoss {
  double loss;
  double negative_log_likelihood;
};

/// Cross-entropy of one row of logits and its gradient, in three passes over the row.
RowLoss run_row(const SoftmaxRow<float>& row);
RowLoss run_row(const SoftmaxRow<double>& row);

}  // namespace pagoda
