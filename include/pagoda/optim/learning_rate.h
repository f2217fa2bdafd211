#pragma once

#include <cstdint>
#include <variant>

namespace pagoda {

// Schedules. `base` is the rate after the warm-up; steps count from 0. During the first
// `warmup_steps` steps the rate rises linearly (step s: base * (s+1) / warmup_steps); the decay
// counts from their end.

/// Always the same rate.
struct ConstantRate {
  double base = 1e-3;
  std::int64_t warmup_steps = 0;
};

/// base * rate^(s/steps); with `staircase` the exponent is rounded down.
struct ExponentialDecay {
  double base = 1e-3;
  double rate = 0.99;
  std::int64_t steps = 1;
  bool staircase = false;
  std::int64_t warmup_steps = 0;
};

/// The rate is multiplied by `factor` every `every` steps.
struct StepDecay {
  double base = 1e-3;
  double factor = 0.1;
  std::int64_t every = 1000;
  std::int64_t warmup_steps = 0;
};

/// Half a cosine from `base` down to `final` over `steps` steps, then constant.
struct CosineDecay {
  double base = 1e-3;
  double final = 0;
  std::int64_t steps = 1000;
  std::int64_t warmup_steps = 0;
};

/// A straight line from `base` down to `final` over `steps` steps, then constant. With a warm-up it
/// is the one-cycle schedule.
struct LinearDecay {
  double base = 1e-3;
  double final = 0;
  std::int64_t steps = 1000;
  std::int64_t warmup_steps = 0;
};

/// base * sqrt(w / (w + s)) where w is the number of warm-up steps (at least 1).
struct InverseSquareRootDecay {
  double base = 1e-3;
  std::int64_t warmup_steps = 0;
};

/// The learning rate of every step: a number, or one of the schedules above.
///
/// It is a pure function of the step, so that nothing about it has to be saved.
/// Fails: UsageError on construction when a rate is negative or not finite, or a number of steps is
/// too small.
/// Example:
///     Adam{.learning_rate = CosineDecay{.base = 1e-3, .steps = 10'000, .warmup_steps = 500}}
class LearningRate {
 public:
  // Not explicit, so that a number and every schedule can stand for a rate.
  LearningRate(double constant) : LearningRate(ConstantRate{constant}) {}  // NOLINT
  LearningRate(ConstantRate schedule);                                     // NOLINT
  LearningRate(ExponentialDecay schedule);                                 // NOLINT
  LearningRate(StepDecay schedule);                                        // NOLINT
  LearningRate(CosineDecay schedule);                                      // NOLINT
  LearningRate(LinearDecay schedule);                                      // NOLINT
  LearningRate(InverseSquareRootDecay schedule);                           // NOLINT

  double at(std::int64_t step) const;

  /// The schedule's `base`: the rate after the warm-up.
  double base() const;

 private:
  using Schedule = std::variant<ConstantRate, ExponentialDecay, StepDecay, CosineDecay, LinearDecay,
                                InverseSquareRootDecay>;
  Schedule schedule_;
};

}  // namespace pagoda
