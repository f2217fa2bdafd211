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

/// Parameters, chosen by name, whose learning rate is multiplied by a factor.
struct RateFactor {
  std::string names;  ///< a pattern, as in ParameterRule
  double factor = 1;  ///< what their learning rate is multiplied by
};

/// An optimizer with its schedule and related options, before the length of the run is known.
struct OptimizerChoice {
  OptimizerKind optimizer = OptimizerKind::adam;   ///< which optimizer
  double lr = 1e-3;                                ///< learning rate after the warm-up
  ScheduleKind schedule = ScheduleKind::constant;  ///< how the rate changes after the warm-up
  double lr_decay = 0.99;  ///< decay factor of the exponential and step schedules
  /// Steps over which the rate decays by that factor (unset: 64), or the length of the cosine and
  /// linear schedules (unset: the run's, without the warm-up).
  std::optional<std::int64_t> lr_decay_steps = std::nullopt;
  bool lr_staircase = false;        ///< exponential schedule: decay in whole factors only
  std::int64_t lr_warmup = 0;       ///< steps in which the rate rises to `lr`
  double momentum = 0.9;            ///< for momentum and nesterov
  double beta1 = Adam{}.beta1;      ///< decay of the gradient's mean, for adam and adamw
  double beta2 = Adam{}.beta2;      ///< decay of the mean of its square
  double epsilon = Adam{}.epsilon;  ///< added to the denominator, for adam and adamw
  double weight_decay = AdamW{}.weight_decay;  ///< for adamw
  double l2 = 0;                               ///< L2 penalty on the weights, as part of the loss
  double ema = 0;                  ///< decay of the parameters' moving average; 0: none is kept
  double max_grad_norm = 0;        ///< clips the combined gradient to this norm; 0: no clipping
  double max_tower_grad_norm = 0;  ///< clips each tower's gradient to this norm; 0: no clipping
  /// Patterns of the names of parameters that are not trained: `*` stands for any characters and
  /// `?` for one; see ParameterRule.
  std::vector<std::string> freeze = {};
  std::vector<RateFactor> lr_factor = {};  ///< where several match, the last one applies
};

/// The optimizer for a run of this many steps. Fails: UsageError for a value that is out of range,
/// or that the chosen optimizer or schedule does not use.
OptimizerOptions chosen_optimizer(const OptimizerChoice& choice, std::int64_t run_steps);

/// `freeze` and `lr_factor` as rules.
std::vector<ParameterRule> chosen_rules(const OptimizerChoice& choice);

/// The moving average; nothing for a decay of 0.
std::optional<MovingAverage> chosen_average(const OptimizerChoice& choice);

}  // namespace pagoda
