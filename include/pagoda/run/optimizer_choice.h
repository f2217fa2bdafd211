#pragma once

#include <pagoda/optim/optimizer_options.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// The optimizers that options can name; momentum and nesterov are Sgd with momentum.
enum class OptimizerKind { sgd, momentum, nesterov, adam, adamw, adagrad, rmsprop };

/// The schedules that options can name.
enum class ScheduleKind { constant, exponential, step, cosine, linear, inverse_sqrt };

/// Parameters, by name as ParameterRule has them, whose learning rate is multiplied.
struct RateFactor {
  std::string names;  ///< a pattern, as ParameterRule has it
  double factor = 1;  ///< what their learning rate is multiplied by
};

/// An optimizer with its schedule and what goes with them, before the length of the run is known.
struct OptimizerChoice {
  OptimizerKind optimizer = OptimizerKind::adam;   ///< which optimizer
  double lr = 1e-3;                                ///< learning rate after the warm-up
  ScheduleKind schedule = ScheduleKind::constant;  ///< how the rate falls after the warm-up
  double lr_decay = 0.99;  ///< factor of the exponential and the step schedule
  /// Steps to which that factor belongs (unset: 64), or the length of cosine and line (unset: the
  /// run's).
  std::optional<std::int64_t> lr_decay_steps = std::nullopt;
  bool lr_staircase = false;                   ///< decay in whole factors only
  std::int64_t lr_warmup = 0;                  ///< steps in which the rate rises from 0
  double momentum = 0.9;                       ///< for momentum and nesterov
  double beta1 = Adam{}.beta1;                 ///< decay of the gradient's mean, for adam and adamw
  double beta2 = Adam{}.beta2;                 ///< the same of its square's
  double epsilon = Adam{}.epsilon;             ///< what they add to the denominator
  double weight_decay = AdamW{}.weight_decay;  ///< for adamw
  double l2 = 0;                               ///< penalty on the weights, as part of the loss
  double ema = 0;                  ///< decay of the parameters' moving average; 0 keeps none
  double max_grad_norm = 0;        ///< the combined gradient is clipped to this norm; 0 does not
  double max_tower_grad_norm = 0;  ///< each tower's gradient is clipped to this norm; 0 does not
  /// Names of parameters that are not trained, in which `*` stands for any characters and `?` for
  /// one; see ParameterRule.
  std::vector<std::string> freeze = {};
  std::vector<RateFactor> lr_factor = {};  ///< where several fit, the last one holds
};

/// The optimizer of a run of so many steps. Fails: UsageError for values out of range.
OptimizerOptions chosen_optimizer(const OptimizerChoice& choice, std::int64_t run_steps);

/// What `freeze` and `lr_factor` say.
std::vector<ParameterRule> chosen_rules(const OptimizerChoice& choice);

/// The moving average; nothing for a decay of 0.
std::optional<MovingAverage> chosen_average(const OptimizerChoice& choice);

}  // namespace pagoda
