#include "flags.h"

#include <pagoda/base/error.h>

#include <charconv>
#include <cstdio>
#include <limits>

namespace pagoda::app {
namespace {

LearningRate chosen_rate(const OptimizerFlags& flags) {
  const double base = flags.learning_rate;
  const std::int64_t warmup = flags.warmup_steps;
  if (flags.schedule == "constant") return ConstantRate{.base = base, .warmup_steps = warmup};
  if (flags.schedule == "step") {
    return StepDecay{
        .base = base, .factor = flags.decay, .every = flags.decay_steps, .warmup_steps = warmup};
  }
  if (flags.schedule == "cosine") {
    return CosineDecay{.base = base, .steps = flags.decay_steps, .warmup_steps = warmup};
  }
  if (flags.schedule == "inverse-sqrt")
    return InverseSquareRootDecay{.base = base, .warmup_steps = warmup};
  return ExponentialDecay{.base = base,
                          .rate = flags.decay,
                          .steps = flags.decay_steps,
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

void add_device_flags(CLI::App& command, DeviceFlags& flags) {
  command
      .add_option("--devices", flags.devices,
                  "all, cpu, cuda, a number, sim:4 (four simulated cards), or a list such as "
                  "cpu:0,cpu:1, cuda:0,1 or sim:0-3")
      ->capture_default_str()
      ->group("Devices");
  command
      .add_option("--cores-per-tower", flags.options.cores_per_tower,
                  "cores of each CPU tower (default: all cores, divided evenly)")
      ->group("Devices");
}

std::vector<Device> chosen_devices(const DeviceFlags& flags) {
  auto devices = select_devices(flags.devices, flags.options);
  if (const auto shared = shared_cores(devices); !shared.empty()) {
    std::fprintf(stderr,
                 "pagoda: warning: %zu towers share %zu of their cores and will be slower than "
                 "fewer towers\n",
                 devices.size(), shared.size());
  }
  return devices;
}

void add_parameters_flag(CLI::App& command, std::string& parameters) {
  std::vector<std::string> names{kPlacedBySystem};
  for (const Placement placement : kEveryPlacement) names.emplace_back(placement_name(placement));
  command
      .add_option("--parameters", parameters,
                  "where they live and are updated: one copy of all CPU towers, a copy on each "
                  "device, the host, or a share on each device; auto: shared, or host with cards")
      ->capture_default_str()
      ->check(CLI::IsMember(names))
      ->group("Devices");
}

std::optional<Placement> chosen_placement(const std::string& parameters) {
  for (const Placement placement : kEveryPlacement) {
    if (parameters == placement_name(placement)) return placement;
  }
  return std::nullopt;
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
      "steps to which that factor belongs; length of the cosine");
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

OptimizerOptions chosen_optimizer(const OptimizerFlags& flags) {
  const LearningRate rate = chosen_rate(flags);
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
