#include "train/loss_scaler.h"

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/world/world.h>

#include <algorithm>
#include <cmath>
#include <string>

#include <ATen/ops/empty.h>

namespace pagoda {

void check(const LossScale& options) {
  const auto refuse = [](const std::string& what, double value, const std::string& range) {
    throw UsageError(what + " is " + number_text(value) + "; it must be " + range);
  };
  if (!(std::isfinite(options.least) && options.least > 0))
    refuse("the least loss scale", options.least, "above 0");
  if (!(std::isfinite(options.most) && options.most >= options.least))
    refuse("the greatest loss scale", options.most,
           "at least the least one, " + number_text(options.least));
  if (!(options.initial >= options.least && options.initial <= options.most)) {
    refuse("the loss scale", options.initial,
           "from " + number_text(options.least) + " to " + number_text(options.most));
  }
  if (!(std::isfinite(options.factor) && options.factor > 1))
    refuse("the factor of the loss scale", options.factor, "above 1");
  if (options.growth_steps < 1)
    refuse("the number of steps after which the loss scale is raised", options.growth_steps,
           "at least 1");
}

LossScaler::LossScaler(const LossScale& options) : options_(options), scale_(options.initial) {
  check(options);
}

double LossScaler::scale() const {
  const std::lock_guard lock(mutex_);
  return scale_;
}

void LossScaler::note_update(double scale) {
  const std::lock_guard lock(mutex_);
  if (scale != scale_ || ++good_steps_ < options_.growth_steps) return;
  scale_ = std::min(options_.most, scale_ * options_.factor);
  good_steps_ = 0;
}

bool LossScaler::note_overflow(double scale) {
  const std::lock_guard lock(mutex_);
  if (scale <= options_.least) return false;
  ++overflows_;
  if (scale != scale_) return true;  // another tower has lowered it
  scale_ = std::max(options_.least, scale_ / options_.factor);
  good_steps_ = 0;
  return true;
}

LossScaleState LossScaler::state() const {
  const std::lock_guard lock(mutex_);
  return {.scale = scale_, .good_steps = good_steps_, .overflows = overflows_};
}

void LossScaler::load(const LossScaleState& state) {
  const std::lock_guard lock(mutex_);
  scale_ = state.scale.value_or(scale_);
  good_steps_ = state.good_steps;
  overflows_ = state.overflows;
}

void LossScaler::take_first(World& world) {
  const at::Tensor told = at::empty({3}, at::kDouble);
  auto* numbers = told.mutable_data_ptr<double>();
  const LossScaleState own = state();
  numbers[0] = *own.scale;
  numbers[1] = static_cast<double>(own.good_steps);
  numbers[2] = static_cast<double>(own.overflows);
  world.broadcast(told);
  load({.scale = numbers[0],
        .good_steps = static_cast<std::int64_t>(numbers[1]),
        .overflows = static_cast<std::int64_t>(numbers[2])});
}

}  // namespace pagoda
