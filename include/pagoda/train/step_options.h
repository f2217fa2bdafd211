#pragma once

#include <pagoda/optim/optimizer_options.h>
#include <pagoda/reduce/buffer_rule.h>
#include <pagoda/tower/tower_job.h>
#include <pagoda/train/loss_scale.h>
#include <pagoda/train/wire_type.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

class World;

/// What happens when a tower's loss, or a norm that is measured, is nan or infinite. (A scaled gradient
/// that overflows is no such case: see LossScale.)
enum class NonFinite {
  stop,  ///< DataError with the tower, the step and the samples; nothing is updated
  skip,  ///< the step is left out on all towers and counted in the result
};

/// Sees a parameter's gradient, and may change it in place or put another in its stead.
using GradientHook = std::function<void(const std::string& parameter, at::Tensor& gradient)>;

/// Processes that train on their own for some steps, and meet then: local SGD with an outer optimizer
/// (SlowMo, arXiv 1910.00643; DiLoCo, arXiv 2311.08105, has rate 0.7 and momentum 0.9 for hundreds of
/// steps between meetings). For links that are too slow for a gradient in every step.
///
/// With `overlap` they do not wait at a meeting: they train on while what they told each other travels, and
/// what they have done meanwhile is added to the outcome (as in CoCoD-SGD, arXiv 1906.12043).
///
/// They also meet before a validation and a checkpoint; then the optimizer's state and the moving
/// average become the mean over all of them too.
struct LocalSteps {
  int every = 1;          ///< steps between two meetings; 1: gradients are exchanged in every step
  double outer_rate = 1;  ///< what the mean of the processes' ways is multiplied by
  double outer_momentum = 0.5;  ///< Nesterov's; with rate 1 and momentum 0 parameters are averaged
  int overlap = 0;  ///< steps that are done while a meeting's exchange travels; below `every`
};

/// Fails: UsageError for a value out of range.
void check(const LocalSteps& options);

/// What all ways to step have in common.
struct StepOptions {
  /// Clips the norm of each tower's gradient before they are combined; unset does not.
  std::optional<double> max_tower_grad_norm = std::nullopt;
  /// Clips the norm of the combined gradient; unset does not.
  std::optional<double> max_grad_norm = std::nullopt;
  /// As if l2/2 times the parameters' sum of squares stood in the loss (not in the reported loss).
  double l2 = 0;
  /// What `l2` and AdamW's weight decay apply to.
  DecayScope decay_scope = DecayScope::all;
  /// What is different for some parameters: learning rate, decay, whether they are trained at all.
  std::vector<ParameterRule> parameter_rules = {};
  /// Of the parameters, kept beside them.
  std::optional<MovingAverage> moving_average = std::nullopt;
  /// For row-sparse gradients.
  RowUpdate rows = RowUpdate::exact;
  BufferRule buffers = BufferRule::mean;      ///< what becomes of BatchNorm's statistics
  NonFinite on_non_finite = NonFinite::stop;  ///< what becomes of a loss that is nan or infinite
  /// Where the towers compute in fp16 (TowerOptions::precision).
  LossScale loss_scale = {};
  /// Reports the norm of the combined gradient even without clipping, for one more pass over it.
  bool measure_grad_norm = false;
  /// With a torch::optim::Optimizer: the rate to write into its groups before each step. Where the
  /// groups were built with different rates, each keeps its own, times the schedule's rate over its
  /// base. (Their own rates are those at the construction of the step.)
  std::optional<LearningRate> learning_rate = std::nullopt;
  /// Called with the combined gradient of each parameter that has one, in the parameters' order:
  /// after the towers' gradients are clipped and summed, before the sum is clipped and the
  /// parameters are updated. It is in CPU memory, in the parameter's shape, without the L2 term; one
  /// of rows is a sparse tensor. A gradient that is reset to an undefined tensor leaves its parameter
  /// as it is. One that has overflowed in fp16 it does not see. In the coordinating thread, or for asynchronous updates in a tower's, one update at a
  /// time. Costs another pass over the gradient, on one thread. What it throws ends the step;
  /// nothing is updated then.
  GradientHook on_gradient = nullptr;
  /// The other processes that train the same model with this one; null: there are none. A step is
  /// then one of all towers of all processes, which make the same number of steps; a process whose
  /// feeds are used up gives none.
  std::shared_ptr<World> world = nullptr;
  /// What gradients travel in between them, or between the cards of one process.
  WireType wire = WireType::fp32;
  /// Whether they exchange gradients in every step, or train on their own in between.
  LocalSteps local_steps = {};
  /// Called in the tower's thread at the start of each of its phases: "feed", "forward",
  /// "backward", "collect", "exchange" (with other processes), "combine", "update", "renew". For tracing and fault injection; may
  /// throw.
  PhaseWatch on_phase = nullptr;
};

}  // namespace pagoda
