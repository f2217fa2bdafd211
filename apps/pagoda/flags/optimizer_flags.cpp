#include "flags/optimizer_flags.h"

#include <algorithm>

#include "flags/flag_adder.h"

namespace pagoda::app {
namespace {

constexpr std::int64_t kDecaySteps = 64;

LearningRate chosen_rate(const OptimizerFlags& flags, std::int64_t run_steps) {
  const double base = flags.learning_rate;
  const std::int64_t decay_steps = flags.decay_steps.value_or(kDecaySteps);
  const std::int64_t warmup = flags.warmup_steps;
  if (flags.schedule == "constant") return ConstantRate{.base = base, .warmup_steps = warmup};
  if (flags.schedule == "step") {
    return StepDecay{
        .base = base, .factor = flags.decay, .every = decay_steps, .warmup_steps = warmup};
  }
  if (flags.schedule == "cosine") {
    const std::int64_t rest = std::max<std::int64_t>(1, run_steps - warmup);
    return CosineDecay{
        .base = base, .steps = flags.decay_steps.value_or(rest), .warmup_steps = warmup};
  }
  if (flags.schedule == "inverse-sqrt")
    return InverseSquareRootDecay{.base = base, .warmup_steps = warmup};
  return ExponentialDecay{.base = base,
                          .rate = flags.decay,
                          .steps = decay_steps,
                          .staircase = flags.staircase,
                          .warmup_steps = warmup};
}

}  // namespace

void add_optimizer_flags(CLI::App& command, OptimizerFlags& flags) {
  FlagAdder add(command, "Optimizer");
  add.word("--optimizer", flags.optimizer,
           {"sgd", "momentum", "nesterov", "adam", "adamw", "adagrad", "rmsprop"},
           "how parameters are updated");
  add.option("--lr,--learning-rate", flags.learning_rate, "learning rate after the warm-up");
  add.word("--schedule", flags.schedule,
           {"constant", "exponential", "step", "cosine", "inverse-sqrt"},
           "how the learning rate changes");
  add.option("--lr-decay", flags.decay, "factor of the exponential and the step schedule");
  add.option("--lr-decay-steps", flags.decay_steps,
             "steps to which that factor belongs (default: 64); length of the cosine (default: the "
             "run's)");
  add.flag("--lr-staircase", flags.staircase, "decay in whole factors only");
  add.option("--lr-warmup", flags.warmup_steps, "steps in which the rate rises from 0");
  add.option("--momentum", flags.momentum, "for momentum and nesterov");
  add.option("--weight-decay", flags.weight_decay, "decoupled weight decay, for adamw");
  add.option("--l2", flags.l2, "L2 penalty on the weights, as part of the loss");
  add.option("--ema", flags.average_decay, "decay of the parameters' moving average; 0 keeps none");
  add.option("--max-grad-norm", flags.max_grad_norm,
             "clip the combined gradient to this norm; 0 does not");
  add.option("--max-tower-grad-norm", flags.max_tower_grad_norm,
             "clip each tower's gradient to this norm; 0 does not");
}

OptimizerOptions chosen_optimizer(const OptimizerFlags& flags, std::int64_t run_steps) {
  const LearningRate rate = chosen_rate(flags, run_steps);
  if (flags.optimizer == "sgd") return Sgd{.learning_rate = rate};
  if (flags.optimizer == "momentum") return Sgd{.learning_rate = rate, .momentum = flags.momentum};
  if (flags.optimizer == "nesterov") {
    return Sgd{.learning_rate = rate, .momentum = flags.momentum, .nesterov = true};
  }
  if (flags.optimizer == "adamw")
    return AdamW{.learning_rate = rate, .weight_decay = flags.weight_decay};
  if (flags.optimizer == "adagrad") return Adagrad{.learning_rate = rate};
  if (flags.optimizer == "rmsprop") return RmsProp{.learning_rate = rate};
  return Adam{.learning_rate = rate};
}

std::optional<double> unless_zero(double value) {
  return value == 0 ? std::nullopt : std::optional<double>(value);
}

std::optional<MovingAverage> chosen_average(const OptimizerFlags& flags) {
  if (flags.average_decay == 0) return std::nullopt;
  return MovingAverage{.decay = flags.average_decay};
}

}  // namespace pagoda::app
