// Built with -O3 and without LibTorch's headers.
#include "optim/update_kernels.h"

#include <cmath>

#include "base/vector_clones.h"

namespace pagoda {
namespace {

/// Calls change(i, gradient, parameter) for every element and lets the average follow.
template <class T, class Change>
PAGODA_INLINE void sweep(double l2, double average_gain, const UpdateSpan<T>& span, Change change) {
  T* __restrict parameter = span.parameter;
  T* __restrict average = span.average;
  const T* __restrict gradient = span.gradient;
  const T decay = static_cast<T>(l2);
  const T gain = static_cast<T>(average_gain);
  const std::int64_t count = span.count;
  if (average == nullptr) {
    for (std::int64_t i = 0; i < count; ++i) {
      parameter[i] = change(i, gradient[i] + decay * parameter[i], parameter[i]);
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const T changed = change(i, gradient[i] + decay * parameter[i], parameter[i]);
      parameter[i] = changed;
      average[i] += gain * (changed - average[i]);
    }
  }
}

template <class T>
PAGODA_INLINE void run(const SgdStep& step, double l2, double average_gain,
                       const UpdateSpan<T>& span) {
  const T rate = static_cast<T>(step.rate);
  sweep(l2, average_gain, span, [=](std::int64_t, T g, T p) { return p - rate * g; });
}

template <class T>
PAGODA_INLINE void run(const MomentumStep& step, double l2, double average_gain,
                       const UpdateSpan<T>& span) {
  T* __restrict velocity = span.state[0];
  const T rate = static_cast<T>(step.rate);
  const T momentum = static_cast<T>(step.momentum);
  const T gain = static_cast<T>(step.gain);
  const T look_ahead = static_cast<T>(step.look_ahead);
  const T from_gradient = static_cast<T>(step.from_gradient);
  sweep(l2, average_gain, span, [=](std::int64_t i, T g, T p) {
    const T v = momentum * velocity[i] + gain * g;
    velocity[i] = v;
    return p - rate * (from_gradient * g + look_ahead * v);
  });
}

template <class T>
PAGODA_INLINE void run(const AdamStep& step, double l2, double average_gain,
                       const UpdateSpan<T>& span) {
  T* __restrict mean = span.state[0];
  T* __restrict square = span.state[1];
  const T rate = static_cast<T>(step.rate);
  const T gain1 = static_cast<T>(1 - step.beta1);
  const T beta2 = static_cast<T>(step.beta2);
  const T gain2 = static_cast<T>(1 - step.beta2);
  const T epsilon = static_cast<T>(step.epsilon);
  const T root_correction = static_cast<T>(step.root_correction);
  const T keep = static_cast<T>(step.keep);
  sweep(l2, average_gain, span, [=](std::int64_t i, T g, T p) {
    const T m = mean[i] + gain1 * (g - mean[i]);
    const T v = beta2 * square[i] + gain2 * g * g;
    mean[i] = m;
    square[i] = v;
    return keep * p - rate * m / (std::sqrt(v) * root_correction + epsilon);
  });
}

template <class T>
PAGODA_INLINE void run(const AdagradStep& step, double l2, double average_gain,
                       const UpdateSpan<T>& span) {
  T* __restrict sum = span.state[0];
  const T rate = static_cast<T>(step.rate);
  const T epsilon = static_cast<T>(step.epsilon);
  sweep(l2, average_gain, span, [=](std::int64_t i, T g, T p) {
    const T s = sum[i] + g * g;
    sum[i] = s;
    return p - rate * g / (std::sqrt(s) + epsilon);
  });
}

template <bool kCentered, bool kMomentum, class T>
PAGODA_INLINE void run_rmsprop(const RmsPropStep& step, double l2, double average_gain,
                               const UpdateSpan<T>& span) {
  T* __restrict square = span.state[0];
  T* __restrict velocity = span.state[1];
  T* __restrict mean = span.state[2];
  const T rate = static_cast<T>(step.rate);
  const T alpha = static_cast<T>(step.alpha);
  const T gain = static_cast<T>(1 - step.alpha);
  const T epsilon = static_cast<T>(step.epsilon);
  const T momentum = static_cast<T>(step.momentum);
  sweep(l2, average_gain, span, [=](std::int64_t i, T g, T p) {
    const T s = alpha * square[i] + gain * g * g;
    square[i] = s;
    T variance = s;
    if constexpr (kCentered) {
      const T m = mean[i] + gain * (g - mean[i]);
      mean[i] = m;
      variance = s - m * m;
    }
    const T direction = g / (std::sqrt(variance) + epsilon);
    if constexpr (!kMomentum) return p - rate * direction;
    const T v = momentum * velocity[i] + direction;
    velocity[i] = v;
    return p - rate * v;
  });
}

template <class T>
PAGODA_INLINE void run(const RmsPropStep& step, double l2, double average_gain,
                       const UpdateSpan<T>& span) {
  if (step.centered && step.momentum != 0)
    return run_rmsprop<true, true>(step, l2, average_gain, span);
  if (step.centered) return run_rmsprop<true, false>(step, l2, average_gain, span);
  if (step.momentum != 0) return run_rmsprop<false, true>(step, l2, average_gain, span);
  run_rmsprop<false, false>(step, l2, average_gain, span);
}

template <class T>
PAGODA_INLINE void run(const AverageStep&, double, double average_gain, const UpdateSpan<T>& span) {
  const T gain = static_cast<T>(average_gain);
  for (std::int64_t i = 0; i < span.count; ++i) {
    span.average[i] += gain * (span.parameter[i] - span.average[i]);
  }
}

/// std::visit would hide the loops from the vector clones, so the choice is spelled out.
template <class T>
PAGODA_INLINE void choose(const UpdateStep& step, double l2, double average_gain,
                          const UpdateSpan<T>& span) {
  switch (step.index()) {
    case 0:
      return run(*std::get_if<0>(&step), l2, average_gain, span);
    case 1:
      return run(*std::get_if<1>(&step), l2, average_gain, span);
    case 2:
      return run(*std::get_if<2>(&step), l2, average_gain, span);
    case 3:
      return run(*std::get_if<3>(&step), l2, average_gain, span);
    case 4:
      return run(*std::get_if<4>(&step), l2, average_gain, span);
    default:
      return run(*std::get_if<5>(&step), l2, average_gain, span);
  }
}

}  // namespace

PAGODA_VECTOR_CLONES void update_span(const UpdateStep& step, double l2, double average_gain,
                                      const UpdateSpan<float>& span) {
  choose(step, l2, average_gain, span);
}

PAGODA_VECTOR_CLONES void update_span(const UpdateStep& step, double l2, double average_gain,
                                      const UpdateSpan<double>& span) {
  choose(step, l2, average_gain, span);
}

}  // namespace pagoda
