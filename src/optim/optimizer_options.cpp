#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/optim/optimizer_options.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace pagoda {
namespace {

void require(bool holds, const char* what, double value, const char* range) {
  if (!holds || !std::isfinite(value)) {
    throw UsageError(std::string(what) + " is " + number_text(value) + "; it must be " + range);
  }
}

void check_decay(double value, const char* what) {
  require(value >= 0 && value < 1, what, value, "at least 0 and below 1");
}

void check_not_negative(double value, const char* what) {
  require(value >= 0, what, value, "finite and at least 0");
}

void check_one(const Sgd& sgd) {
  check_decay(sgd.momentum, "momentum");
  check_decay(sgd.dampening, "dampening");
  if (sgd.nesterov && (sgd.momentum == 0 || sgd.dampening != 0)) {
    throw UsageError("Nesterov momentum needs a momentum above 0 (it is " +
                     number_text(sgd.momentum) + ") and a dampening of 0 (it is " +
                     number_text(sgd.dampening) + ")");
  }
}

template <class AnyAdam>
void check_adam(const AnyAdam& adam) {
  check_decay(adam.beta1, "beta1");
  check_decay(adam.beta2, "beta2");
  check_not_negative(adam.epsilon, "epsilon");
}

void check_one(const Adam& adam) { check_adam(adam); }

void check_one(const AdamW& adam) {
  check_adam(adam);
  check_not_negative(adam.weight_decay, "weight decay");
}

void check_one(const Adagrad& adagrad) {
  check_not_negative(adagrad.rate_decay, "rate decay");
  check_not_negative(adagrad.initial_accumulator, "initial accumulator");
  check_not_negative(adagrad.epsilon, "epsilon");
}

void check_one(const RmsProp& rmsprop) {
  check_decay(rmsprop.alpha, "alpha");
  check_decay(rmsprop.momentum, "momentum");
  check_not_negative(rmsprop.epsilon, "epsilon");
}

}  // namespace

void check(const OptimizerOptions& options) {
  std::visit([](const auto& optimizer) { check_one(optimizer); }, options);
}

const LearningRate& learning_rate_of(const OptimizerOptions& options) {
  return std::visit(
      [](const auto& optimizer) -> const LearningRate& { return optimizer.learning_rate; },
      options);
}

double MovingAverage::decay_at(std::int64_t update) const {
  if (!num_updates_rule) return decay;
  const double n = static_cast<double>(update);
  return std::min(decay, (1 + n) / (10 + n));
}

bool decays(DecayScope scope, const at::Tensor& parameter) {
  return scope == DecayScope::all || parameter.dim() >= 2;
}

void check(const UpdateOptions& options) {
  check_not_negative(options.l2, "l2");
  if (options.moving_average)
    check_decay(options.moving_average->decay, "decay of the moving average");
}

}  // namespace pagoda
