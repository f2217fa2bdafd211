#include "optim/optimizer_traits.h"

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>

#include <cmath>
#include <limits>

namespace pagoda {
namespace {

const char* name_of(const Sgd&) { return "Sgd"; }
const char* name_of(const Adam&) { return "Adam"; }
const char* name_of(const AdamW&) { return "AdamW"; }
const char* name_of(const Adagrad&) { return "Adagrad"; }
const char* name_of(const RmsProp&) { return "RmsProp"; }

// What each optimizer keeps; the order is that of UpdateSpan::state in update_kernels.cpp.
std::vector<StateArray> state_of(const Sgd& sgd) {
  return sgd.momentum == 0 ? std::vector<StateArray>{} : std::vector<StateArray>{{"momentum"}};
}
std::vector<StateArray> state_of(const Adam&) { return {{"mean"}, {"square"}}; }
std::vector<StateArray> state_of(const AdamW&) { return {{"mean"}, {"square"}}; }
std::vector<StateArray> state_of(const Adagrad& adagrad) {
  return {{"sum", adagrad.initial_accumulator}};
}
std::vector<StateArray> state_of(const RmsProp& rmsprop) {
  if (rmsprop.centered) return {{"square"}, {"momentum"}, {"mean"}};
  if (rmsprop.momentum != 0) return {{"square"}, {"momentum"}};
  return {{"square"}};
}

template <class Optimizer>
bool rests(const Optimizer&) {
  return false;
}
bool rests(const Sgd& sgd) { return sgd.momentum == 0; }
bool rests(const Adagrad&) { return true; }

UpdateStep step_for(const Sgd& sgd, const ParameterTurn& turn) {
  if (sgd.momentum == 0) return SgdStep{turn.learning_rate};
  return MomentumStep{.rate = turn.learning_rate,
                      .momentum = sgd.momentum,
                      .gain = turn.update == 1 ? 1 : 1 - sgd.dampening,
                      .look_ahead = sgd.nesterov ? sgd.momentum : 1,
                      .from_gradient = sgd.nesterov ? 1.0 : 0.0};
}

template <class AnyAdam>
AdamStep adam_step(const AnyAdam& adam, const ParameterTurn& turn, double keep) {
  const double n = static_cast<double>(turn.update);
  return {.rate = turn.learning_rate / (1 - std::pow(adam.beta1, n)),
          .beta1 = adam.beta1,
          .beta2 = adam.beta2,
          .epsilon = adam.epsilon,
          .root_correction = 1 / std::sqrt(1 - std::pow(adam.beta2, n)),
          .keep = keep};
}

UpdateStep step_for(const Adam& adam, const ParameterTurn& turn) {
  return adam_step(adam, turn, 1);
}

UpdateStep step_for(const AdamW& adam, const ParameterTurn& turn) {
  return adam_step(adam, turn, 1 - turn.learning_rate * turn.weight_decay);
}

UpdateStep step_for(const Adagrad& adagrad, const ParameterTurn& turn) {
  const auto before = static_cast<double>(turn.update - 1);
  return AdagradStep{.rate = turn.learning_rate / (1 + before * adagrad.rate_decay),
                     .epsilon = adagrad.epsilon};
}

UpdateStep step_for(const RmsProp& rmsprop, const ParameterTurn& turn) {
  return RmsPropStep{.rate = turn.learning_rate,
                     .alpha = rmsprop.alpha,
                     .epsilon = rmsprop.epsilon,
                     .momentum = rmsprop.momentum,
                     .centered = rmsprop.centered};
}

bool is_float(const NamedTensor& parameter) { return parameter.tensor.scalar_type() == at::kFloat; }

[[noreturn]] void refuse(const std::string& what, double value, const NamedTensor& parameter) {
  throw UsageError(what + " is " + number_text(value) + ", which the float elements of '" +
                   parameter.name + "' cannot hold; take another value or double parameters");
}

}  // namespace

OptimizerTraits traits_of(const OptimizerOptions& optimizer) {
  return std::visit(
      [](const auto& one) {
        std::optional<double> weight_decay;
        if constexpr (requires { one.weight_decay; }) weight_decay = one.weight_decay;
        return OptimizerTraits{name_of(one), one.learning_rate, state_of(one), weight_decay,
                               rests(one)};
      },
      optimizer);
}

std::vector<ParameterSettings> settings_of(const std::vector<NamedTensor>& parameters,
                                           const UpdateOptions& options,
                                           const OptimizerTraits& optimizer) {
  for (const ParameterRule& rule : options.rules) {
    if (!rule.weight_decay || optimizer.weight_decay) continue;
    throw UsageError("the rule for '" + rule.names + "' gives a weight decay, but " +
                     optimizer.name + " has none; give the rule an l2, or take AdamW");
  }
  std::vector<ParameterSettings> settings;
  for (const auto& [name, tensor] : parameters) {
    const bool decay = decays(options.decay_scope, tensor);
    settings.push_back(with_rules({.weight_decay = decay ? optimizer.weight_decay.value_or(0) : 0,
                                   .l2 = decay ? options.l2 : 0},
                                  options.rules, name));
  }
  return settings;
}

UpdateStep step_of(const OptimizerOptions& optimizer, const ParameterTurn& turn) {
  if (!turn.used) return AverageStep{};
  return std::visit([&](const auto& one) { return step_for(one, turn); }, optimizer);
}

void check_range(const OptimizerOptions& optimizer, const std::vector<NamedTensor>& parameters) {
  std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.epsilon; }) {
          for (const auto& parameter : parameters) {
            if (is_float(parameter) && one.epsilon > 0 && static_cast<float>(one.epsilon) == 0)
              refuse("epsilon", one.epsilon, parameter);
          }
        }
      },
      optimizer);
}

void check_rate_range(const ParameterTurn& turn, const NamedTensor& parameter) {
  if (is_float(parameter) && turn.learning_rate > std::numeric_limits<float>::max())
    refuse("the learning rate", turn.learning_rate, parameter);
}

}  // namespace pagoda
