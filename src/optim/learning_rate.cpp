#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/optim/learning_rate.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace pagoda {
namespace {

void check_rate(double value, const char* what) {
  if (!std::isfinite(value) || value < 0) {
    throw UsageError(std::string(what) + " is " + number_text(value) +
                     "; it must be finite and at least 0");
  }
}

void check_steps(std::int64_t value, const char* what, std::int64_t least) {
  if (value < least) {
    throw UsageError(std::string(what) + " is " + std::to_string(value) + "; it must be at least " +
                     std::to_string(least));
  }
}

template <class Schedule>
void check_base(const Schedule& schedule) {
  check_rate(schedule.base, "learning rate");
  check_steps(schedule.warmup_steps, "number of warm-up steps", 0);
}

/// The same of one that ends at another rate.
template <class Schedule>
void check_decay(const Schedule& schedule) {
  check_base(schedule);
  check_rate(schedule.final, "final learning rate");
  check_steps(schedule.steps, "number of decay steps", 1);
}

double after_warmup(const ConstantRate& schedule, std::int64_t) { return schedule.base; }

double after_warmup(const ExponentialDecay& schedule, std::int64_t step) {
  const double exponent = static_cast<double>(step) / static_cast<double>(schedule.steps);
  return schedule.base *
         std::pow(schedule.rate, schedule.staircase ? std::floor(exponent) : exponent);
}

double after_warmup(const StepDecay& schedule, std::int64_t step) {
  return schedule.base * std::pow(schedule.factor, static_cast<double>(step / schedule.every));
}

/// From 0 to 1.
template <class Schedule>
double progress_of(const Schedule& schedule, std::int64_t step) {
  return std::min(1.0, static_cast<double>(step) / static_cast<double>(schedule.steps));
}

double after_warmup(const CosineDecay& schedule, std::int64_t step) {
  const double angle = std::numbers::pi * progress_of(schedule, step);
  return schedule.final + (schedule.base - schedule.final) * 0.5 * (1 + std::cos(angle));
}

double after_warmup(const LinearDecay& schedule, std::int64_t step) {
  return schedule.final + (schedule.base - schedule.final) * (1 - progress_of(schedule, step));
}

double after_warmup(const InverseSquareRootDecay& schedule, std::int64_t step) {
  const double reference = static_cast<double>(std::max<std::int64_t>(1, schedule.warmup_steps));
  return schedule.base * std::sqrt(reference / (reference + static_cast<double>(step)));
}

}  // namespace

LearningRate::LearningRate(ConstantRate schedule) : schedule_(schedule) { check_base(schedule); }

LearningRate::LearningRate(ExponentialDecay schedule) : schedule_(schedule) {
  check_base(schedule);
  check_rate(schedule.rate, "decay rate");
  check_steps(schedule.steps, "number of decay steps", 1);
}

LearningRate::LearningRate(StepDecay schedule) : schedule_(schedule) {
  check_base(schedule);
  check_rate(schedule.factor, "decay factor");
  check_steps(schedule.every, "number of steps between decays", 1);
}

LearningRate::LearningRate(CosineDecay schedule) : schedule_(schedule) { check_decay(schedule); }

LearningRate::LearningRate(LinearDecay schedule) : schedule_(schedule) { check_decay(schedule); }

LearningRate::LearningRate(InverseSquareRootDecay schedule) : schedule_(schedule) {
  check_base(schedule);
}

double LearningRate::base() const {
  return std::visit([](const auto& schedule) { return schedule.base; }, schedule_);
}

double LearningRate::at(std::int64_t step) const {
  return std::visit(
      [step](const auto& schedule) {
        if (step < schedule.warmup_steps) {
          return schedule.base * static_cast<double>(step + 1) /
                 static_cast<double>(schedule.warmup_steps);
        }
        return after_warmup(schedule, step - schedule.warmup_steps);
      },
      schedule_);
}

}  // namespace pagoda
