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

/// What to do when a tower's loss, or a gradient norm that is measured, is NaN or infinite. (A
/// scaled gradient that overflows is not such a case: see LossScale.)
enum class NonFinite {
  stop,  ///< DataError with the tower, the step and the samples; nothing is updated
  skip,  ///< the step is skipped on all towers, and StepResult::skipped is set
};

/// Receives a parameter's gradient, and may change it in place or replace it.
using GradientHook = std::function<void(const std::string& parameter, at::Tensor& gradient)>;

/// Processes that train on their own for some steps and then meet: local SGD with an outer
/// optimizer (SlowMo, arXiv 1910.00643; DiLoCo, arXiv 2311.08105, uses rate 0.7 and momentum 0.9
/// with hundreds of steps between meetings). For links that are too slow for a gradient exchange in
/// every step.
///
/// With `overlap` they do not wait at a meeting: they keep training while the exchange is in
/// flight, and add what they have changed meanwhile to its outcome (as in CoCoD-SGD, arXiv
/// 1906.12043).
///
/// They also meet before a validation and a checkpoint; the optimizer's state and the moving
/// average are then averaged over all processes, too.
struct LocalSteps {
  int every = 1;  ///< steps between two meetings; 1: gradients are exchanged in every step
  /// Learning rate of the outer optimizer, whose gradient is the mean of what the processes have
  /// changed since the last meeting.
  double outer_rate = 1;
  /// Nesterov momentum of the outer optimizer. With rate 1 and momentum 0, parameters are averaged.
  double outer_momentum = 0.5;
  int overlap = 0;  ///< steps taken while a meeting's exchange is in flight; less than `every`
};

/// Fails: UsageError for a value out of range.
void check(const LocalSteps& options);

/// Options that all kinds of step have in common.
struct StepOptions {
  /// Clips the norm of each tower's gradient before gradients are combined; unset: no clipping.
  std::optional<double> max_tower_grad_norm = std::nullopt;
  /// Clips the norm of the combined gradient; unset: no clipping.
  std::optional<double> max_grad_norm = std::nullopt;
  /// Trains as if the loss contained l2/2 times the sum of the squared parameters; the reported
  /// loss does not contain it.
  double l2 = 0;
  /// Which parameters `l2` and AdamW's weight decay apply to.
  DecayScope decay_scope = DecayScope::all;
  /// Exceptions for some parameters: learning rate, decay, whether they are trained at all.
  std::vector<ParameterRule> parameter_rules = {};
  /// A moving average of the parameters, kept beside them; unset: none.
  std::optional<MovingAverage> moving_average = std::nullopt;
  /// What happens to the rows that a row-sparse gradient does not touch.
  RowUpdate rows = RowUpdate::exact;
  BufferRule buffers = BufferRule::mean;      ///< how buffers (BatchNorm's statistics) are combined
  NonFinite on_non_finite = NonFinite::stop;  ///< what to do when a loss or norm is not finite
  /// How the loss is scaled where the towers compute in fp16 (TowerOptions::precision).
  LossScale loss_scale = {};
  /// Reports the norm of the combined gradient even without clipping, at the cost of another pass
  /// over it.
  bool measure_grad_norm = false;
  /// For a torch::optim::Optimizer only: the rate to write into its parameter groups before each
  /// step. If the groups were built with different rates, each keeps its own, multiplied by the
  /// schedule's current rate over its base. (Their own rates are those at the construction of the
  /// step.)
  std::optional<LearningRate> learning_rate = std::nullopt;
  /// Called with the combined gradient of each parameter that has one, in the parameters' order:
  /// after the towers' gradients are clipped and summed, and before the sum is clipped and the
  /// parameters are updated. The gradient is in CPU memory, in the parameter's shape, without the
  /// L2 term; a row-sparse one is a sparse tensor. A replacement must have the same shape and type;
  /// an undefined tensor leaves the parameter as it is. Gradients that have overflowed in fp16 are
  /// not passed to it.
  ///
  /// It runs in the coordinating thread or, for asynchronous updates, in a tower's thread, for one
  /// update at a time. It costs another pass over the gradient, on one thread. If it throws, the
  /// step ends and nothing is updated. Not available where parameters are spread over several
  /// processes.
  GradientHook on_gradient = nullptr;
  /// The processes that train the same model together, this one among them; null: it is alone. A
  /// step is then one step of all towers of all processes. All processes take the same number of
  /// steps; one whose feeds are used up passes none.
  std::shared_ptr<World> world = nullptr;
  /// The type in which gradients travel between processes, or between the cards of one process.
  WireType wire = WireType::fp32;
  /// Whether processes exchange gradients in every step, or train on their own in between.
  LocalSteps local_steps = {};
  /// Called in the tower's thread at the start of each of its phases: "feed", "forward",
  /// "backward", "collect", "exchange" (with other processes), "combine", "update", "renew". For
  /// tracing and fault injection; may throw.
  PhaseWatch on_phase = nullptr;
};

}  // namespace pagoda
