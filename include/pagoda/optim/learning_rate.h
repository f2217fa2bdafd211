#pragma once

#include <cstdint>
#include <variant>

namespace pagoda {

// Schedules. `base` is the rate after the warm-up; steps count from 0. During the first
// `warmup_steps` steps the rate rises linearly (step s: base * (s+1) / warmup_steps); the steps s
// of the decay count from the end of the warm-up.

/// Always the same rate.
struct ConstantRate {
  double base = 1e-3;             ///< rate after the warm-up
  std::int64_t warmup_steps = 0;  ///< steps during which it rises
};

/// base * rate^(s/steps); with `staircase` the exponent is rounded down.
struct ExponentialDecay {
  double base = 1e-3;             ///< rate after the warm-up
  double rate = 0.99;             ///< factor per `steps` steps
  std::int64_t steps = 1;         ///< steps over which `rate` applies once
  bool staircase = false;         ///< decay in jumps, every `steps` steps
  std::int64_t warmup_steps = 0;  ///< steps during which it rises
};

/// The rate is multiplied by `factor` every `every` steps.
struct StepDecay {
  double base = 1e-3;             ///< rate after the warm-up
  double factor = 0.1;            ///< what the rate is multiplied by
  std::int64_t every = 1000;      ///< steps between two multiplications
  std::int64_t warmup_steps = 0;  ///< steps during which it rises
};

/// Half a cosine from `base` down to `final` over `steps` steps, then constant.
struct CosineDecay {
  double base = 1e-3;             ///< rate after the warm-up
  double final = 0;               ///< rate at the end
  std::int64_t steps = 1000;      ///< steps from `base` to `final`
  std::int64_t warmup_steps = 0;  ///< steps during which it rises
};

/// A straight line from `base` down to `final` over `steps` steps, then constant. With a warm-up,
/// this is the one-cycle schedule.
struct LinearDecay {
  double base = 1e-3;             ///< rate after the warm-up
  double final = 0;               ///< rate at the end
  std::int64_t steps = 1000;      ///< steps from `base` to `final`
  std::int64_t warmup_steps = 0;  ///< steps during which it rises
};

/// base * sqrt(w / (w + s)) where w is the number of warm-up steps (at least 1).
struct InverseSquareRootDecay {
  double base = 1e-3;             ///< rate after the warm-up
  std::int64_t warmup_steps = 0;  ///< steps during which it rises
};

/// The learning rate of every step: a number, or one of the schedules above.
///
/// It is a pure function of the step, so nothing about it has to be saved.
/// Fails: UsageError on construction if a rate or factor is negative or not finite, or if a number
/// of steps is too small.
/// Example:
///     Adam{.learning_rate = CosineDecay{.base = 1e-3, .steps = 10'000, .warmup_steps = 500}}
class LearningRate {
 public:
  // Not explicit, so that a number and every schedule convert to a rate.
  /// Always the same rate.
  LearningRate(double constant) : LearningRate(ConstantRate{constant}) {}  // NOLINT
  /// Follows this schedule.
  LearningRate(ConstantRate schedule);  // NOLINT
  /// Follows this schedule.
  LearningRate(ExponentialDecay schedule);  // NOLINT
  /// Follows this schedule.
  LearningRate(StepDecay schedule);  // NOLINT
  /// Follows this schedule.
  LearningRate(CosineDecay schedule);  // NOLINT
  /// Follows this schedule.
  LearningRate(LinearDecay schedule);  // NOLINT
  /// Follows this schedule.
  LearningRate(InverseSquareRootDecay schedule);  // NOLINT

  /// The rate at a step, counted from 0.
  double at(std::int64_t step) const;

  /// The schedule's `base`: the rate after the warm-up.
  double base() const;

 private:
  using Schedule = std::variant<ConstantRate, ExponentialDecay, StepDecay, CosineDecay, LinearDecay,
                                InverseSquareRootDecay>;
  Schedule schedule_;
};

}  // namespace pagoda
