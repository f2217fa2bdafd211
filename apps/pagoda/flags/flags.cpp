#include "flags/flags.h"

#include <algorithm>
#include <charconv>
#include <limits>

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

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const std::string range =
      "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  return CLI::Validator(
      [=](const std::string& text) -> std::string {
        std::uint64_t number = 0;
        const char* end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, number);
        if (error == std::errc{} && stopped == end && number >= least && number <= most) return "";
        return "'" + text + "' is not " + range;
      },
      "");
}

CLI::Validator count() { return whole_number(1, kMostCount); }

CLI::Validator positive_seconds() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        double seconds = 0;
        const char* end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, seconds);
        const bool fits = error == std::errc{} && stopped == end && seconds > 0 && seconds < 1e9;
        return fits ? "" : "'" + text + "' is not a number of seconds above 0";
      },
      "");
}

CLI::Validator any_whole_number() {
  return whole_number(0, std::numeric_limits<std::uint64_t>::max());
}

void add_optimizer_flags(CLI::App& command, OptimizerFlags& flags) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->capture_default_str()->group("Optimizer");
  };
  add("--optimizer", flags.optimizer, "how parameters are updated")
      ->check(
          CLI::IsMember({"sgd", "momentum", "nesterov", "adam", "adamw", "adagrad", "rmsprop"}));
  add("--lr,--learning-rate", flags.learning_rate, "learning rate after the warm-up");
  add("--schedule", flags.schedule, "how the learning rate goes on")
      ->check(CLI::IsMember({"constant", "exponential", "step", "cosine", "inverse-sqrt"}));
  add("--lr-decay", flags.decay, "factor of the exponential and the step schedule");
  add("--lr-decay-steps", flags.decay_steps,
      "steps to which that factor belongs (default: 64); length of the cosine (default: the "
      "run's)");
  command.add_flag("--lr-staircase", flags.staircase, "decay in whole factors only")
      ->group("Optimizer");
  add("--lr-warmup", flags.warmup_steps, "steps in which the rate rises from 0");
  add("--momentum", flags.momentum, "for momentum and nesterov");
  add("--weight-decay", flags.weight_decay, "decoupled weight decay, for adamw");
  add("--l2", flags.l2, "L2 penalty on the weights, as part of the loss");
  add("--ema", flags.average_decay, "decay of the parameters' moving average; 0 keeps none");
  add("--max-grad-norm", flags.max_grad_norm,
      "clip the combined gradient to this norm; 0 does not");
  add("--max-tower-grad-norm", flags.max_tower_grad_norm,
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
