#pragma once

#include <cstdint>
#include <variant>

namespace pagoda {

/// Elements of one parameter and all that is updated beside them; `average` may be null.
template <class T>
struct UpdateSpan {
  T* parameter;
  T* state[4];
  T* average;
  const T* gradient;
  std::int64_t count;
};

// One step of each optimizer, with everything that depends on the step worked out beforehand.

struct SgdStep {
  double rate;
};

struct MomentumStep {
  double rate;
  double momentum;
  double gain;        // of the gradient in the momentum: 1 - dampening, and 1 at the first update
  double look_ahead;  // of the momentum: 1, or its own factor with Nesterov
  double from_gradient;  // 0, or 1 with Nesterov
};

struct AdamStep {
  double rate;  // divided by the first bias correction
  double beta1;
  double beta2;
  double epsilon;
  double root_correction;  // 1 / sqrt of the second bias correction
  double keep;             // 1, or what decoupled weight decay leaves of the parameter
};

struct AdagradStep {
  double rate;
  double epsilon;
};

struct RmsPropStep {
  double rate;
  double alpha;
  double epsilon;
  double momentum;
  bool centered;
};

/// No optimizer: only the moving average follows the parameter.
struct AverageStep {};

using UpdateStep =
    std::variant<SgdStep, MomentumStep, AdamStep, AdagradStep, RmsPropStep, AverageStep>;

/// Updates the span in one pass: gradient + l2 * parameter, optimizer, then the moving average
/// (average += average_gain * (parameter - average)).
void update_span(const UpdateStep& step, double l2, double average_gain,
                 const UpdateSpan<float>& span);
void update_span(const UpdateStep& step, double l2, double average_gain,
                 const UpdateSpan<double>& span);

}  // namespace pagoda
