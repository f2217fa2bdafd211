#pragma once

#include <pagoda/optim/optimizer_options.h>

#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace pagoda::app {

/// The optimizer, its schedule and what goes with them.
struct OptimizerFlags {
  std::string optimizer = "adam";
  double learning_rate = 1e-3;
  std::string schedule = "exponential";
  double decay = 0.99;
  std::optional<std::int64_t> decay_steps;
  bool staircase = false;
  std::int64_t warmup_steps = 0;
  double momentum = 0.9;
  double weight_decay = AdamW{}.weight_decay;
  double l2 = 1e-4;
  double average_decay = 0.99;
  double max_grad_norm = 0;
  double max_tower_grad_norm = 0;
};
void add_optimizer_flags(CLI::App& command, OptimizerFlags& flags);

/// For a run of so many steps, which is the length of a cosine that has none of its own.
/// Fails: UsageError for values out of range.
OptimizerOptions chosen_optimizer(const OptimizerFlags& flags, std::int64_t run_steps);

/// Nothing for 0, which means "off" on the command line.
std::optional<double> unless_zero(double value);
std::optional<MovingAverage> chosen_average(const OptimizerFlags& flags);

}  // namespace pagoda::app
