#include <pagoda/base/error.h>
#include <pagoda/run/optimizer_choice.h>

#include <algorithm>
#include <string>

namespace pagoda {
namespace {

constexpr std::int64_t kDecaySteps = 64;

/// An option that would do nothing is an error.
void check_uses(const OptimizerChoice& choice) {
  const bool has_momentum =
      choice.optimizer == OptimizerKind::momentum || choice.optimizer == OptimizerKind::nesterov;
  const bool has_betas =
      choice.optimizer == OptimizerKind::adam || choice.optimizer == OptimizerKind::adamw;
  const bool has_factor =
      choice.schedule == ScheduleKind::exponential || choice.schedule == ScheduleKind::step;
  const bool has_length =
      choice.schedule == ScheduleKind::cosine || choice.schedule == ScheduleKind::linear;
  const auto refuse = [](bool is_given, const char* what, const char* users) {
    if (is_given) throw UsageError(std::string(what) + " is for " + users);
  };
  refuse(!has_momentum && choice.momentum != OptimizerChoice{}.momentum, "--momentum",
         "--optimizer momentum and nesterov");
  const auto refuse_without_betas = [&](double value, double usual, const char* what) {
    refuse(!has_betas && value != usual, what, "--optimizer adam and adamw");
  };
  refuse_without_betas(choice.beta1, OptimizerChoice{}.beta1, "--beta1");
  refuse_without_betas(choice.beta2, OptimizerChoice{}.beta2, "--beta2");
  refuse_without_betas(choice.epsilon, OptimizerChoice{}.epsilon, "--epsilon");
  refuse(choice.optimizer != OptimizerKind::adamw &&
             choice.weight_decay != OptimizerChoice{}.weight_decay,
         "--weight-decay", "--optimizer adamw");
  refuse(!has_factor && choice.lr_decay != OptimizerChoice{}.lr_decay, "--lr-decay",
         "--schedule exponential and step");
  refuse(!has_factor && !has_length && choice.lr_decay_steps.has_value(), "--lr-decay-steps",
         "--schedule exponential, step, cosine and linear");
  refuse(choice.schedule != ScheduleKind::exponential && choice.lr_staircase, "--lr-staircase",
         "--schedule exponential");
}

LearningRate chosen_rate(const OptimizerChoice& choice, std::int64_t run_steps) {
  check_uses(choice);
  const std::int64_t decay_steps = choice.lr_decay_steps.value_or(kDecaySteps);
  const std::int64_t warmup = choice.lr_warmup;
  const std::int64_t length =
      choice.lr_decay_steps.value_or(std::max<std::int64_t>(1, run_steps - warmup));
  switch (choice.schedule) {
    case ScheduleKind::constant:
      return ConstantRate{.base = choice.lr, .warmup_steps = warmup};
    case ScheduleKind::exponential:
      return ExponentialDecay{.base = choice.lr,
                              .rate = choice.lr_decay,
                              .steps = decay_steps,
                              .staircase = choice.lr_staircase,
                              .warmup_steps = warmup};
    case ScheduleKind::step:
      return StepDecay{.base = choice.lr,
                       .factor = choice.lr_decay,
                       .every = decay_steps,
                       .warmup_steps = warmup};
    case ScheduleKind::cosine:
      return CosineDecay{.base = choice.lr, .steps = length, .warmup_steps = warmup};
    case ScheduleKind::linear:
      return LinearDecay{.base = choice.lr, .steps = length, .warmup_steps = warmup};
    case ScheduleKind::inverse_sqrt:
      return InverseSquareRootDecay{.base = choice.lr, .warmup_steps = warmup};
  }
  return choice.lr;
}

}  // namespace

OptimizerOptions chosen_optimizer(const OptimizerChoice& choice, std::int64_t run_steps) {
  const LearningRate rate = chosen_rate(choice, run_steps);
  switch (choice.optimizer) {
    case OptimizerKind::sgd:
      return Sgd{.learning_rate = rate};
    case OptimizerKind::momentum:
      return Sgd{.learning_rate = rate, .momentum = choice.momentum};
    case OptimizerKind::nesterov:
      return Sgd{.learning_rate = rate, .momentum = choice.momentum, .nesterov = true};
    case OptimizerKind::adam:
      return Adam{.learning_rate = rate,
                  .beta1 = choice.beta1,
                  .beta2 = choice.beta2,
                  .epsilon = choice.epsilon};
    case OptimizerKind::adamw:
      return AdamW{.learning_rate = rate,
                   .beta1 = choice.beta1,
                   .beta2 = choice.beta2,
                   .epsilon = choice.epsilon,
                   .weight_decay = choice.weight_decay};
    case OptimizerKind::adagrad:
      return Adagrad{.learning_rate = rate};
    case OptimizerKind::rmsprop:
      return RmsProp{.learning_rate = rate};
  }
  return Adam{.learning_rate = rate};
}

std::vector<ParameterRule> chosen_rules(const OptimizerChoice& choice) {
  std::vector<ParameterRule> rules;
  for (const auto& [names, factor] : choice.lr_factor)
    rules.push_back({.names = names, .rate_factor = factor});
  for (const std::string& names : choice.freeze) rules.push_back({.names = names, .frozen = true});
  return rules;
}

std::optional<MovingAverage> chosen_average(const OptimizerChoice& choice) {
  if (choice.ema == 0) return std::nullopt;
  return MovingAverage{.decay = choice.ema};
}

}  // namespace pagoda
