#pragma once

#include <pagoda/optim/learning_rate.h>
#include <pagoda/optim/parameter_rule.h>

#include <optional>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

// The optimizers, with PyTorch's formulas and default values.

/// Stochastic gradient descent, with momentum if it is not 0.
struct Sgd {
  LearningRate learning_rate = 0.01;  ///< of each step
  double momentum = 0;    ///< part of the last update that is added to the next; 0: none
  double dampening = 0;   ///< part of the gradient that momentum leaves out
  bool nesterov = false;  ///< look ahead along the momentum; needs momentum > 0 and dampening 0
};

/// Adam (Kingma and Ba, 2015).
struct Adam {
  LearningRate learning_rate = 1e-3;  ///< of each step
  double beta1 = 0.9;                 ///< decay of the gradient's mean
  double beta2 = 0.999;               ///< decay of the mean of its square
  double epsilon = 1e-8;              ///< added to the denominator
};

/// Adam with decoupled weight decay (Loshchilov and Hutter, 2019): at every step a parameter loses
/// learning_rate * weight_decay of itself, whatever its gradient is.
struct AdamW {
  LearningRate learning_rate = 1e-3;  ///< of each step
  double beta1 = 0.9;                 ///< decay of the gradient's mean
  double beta2 = 0.999;               ///< decay of the mean of its square
  double epsilon = 1e-8;              ///< added to the denominator
  double weight_decay = 0.01;  ///< part of a parameter, times the rate, that it loses in a step
};

/// Adagrad (Duchi, Hazan and Singer, 2011).
struct Adagrad {
  LearningRate learning_rate = 0.01;  ///< of each step
  double rate_decay = 0;              ///< the rate is divided by 1 + (updates - 1) * rate_decay
  double initial_accumulator = 0;     ///< what the sum of squares begins with
  double epsilon = 1e-10;             ///< added to the denominator
};

/// RMSprop (Hinton's lecture 6e, 2012).
struct RmsProp {
  LearningRate learning_rate = 0.01;  ///< of each step
  double alpha = 0.99;                ///< decay of the mean of the gradient's square
  double epsilon = 1e-8;              ///< added to the denominator
  double momentum = 0;    ///< part of the last update that is added to the next; 0: none
  bool centered = false;  ///< divide by the estimated variance instead of the second moment
};

/// One of the built-in optimizers.
using OptimizerOptions = std::variant<Sgd, Adam, AdamW, Adagrad, RmsProp>;

/// Fails: UsageError that names the field and its value when one is out of range.
void check(const OptimizerOptions& options);

/// The learning rate of whichever optimizer it is.
const LearningRate& learning_rate_of(const OptimizerOptions& options);

/// Exponential moving average of the parameters, kept beside them:
///     a <- decay * a + (1 - decay) * p
struct MovingAverage {
  double decay = 0.99;  ///< part of the average that stays in an update
  /// TensorFlow's rule for young averages: the decay of update n (from 1) is
  /// min(decay, (1 + n) / (10 + n)).
  bool num_updates_rule = true;

  /// The decay of an update, counted from 1.
  double decay_at(std::int64_t update) const;
};

/// Which parameters L2 and weight decay apply to.
enum class DecayScope {
  all,      ///< every trainable parameter
  weights,  ///< those with two or more dimensions: not biases, not normalisation
};

/// Whether L2 and weight decay apply to the parameter.
bool decays(DecayScope scope, const at::Tensor& parameter);

/// What becomes of the rows that a row-sparse gradient does not touch.
enum class RowUpdate {
  exact,  ///< the same as with a dense gradient: momentum and averages go on in every row
  lazy,   ///< such rows and their optimizer state stay as they are: faster, slightly different
};

/// What all updates have in common, whatever the optimizer.
struct UpdateOptions {
  /// As if l2/2 times the sum of squares of the parameters stood in the loss (clipping sees it).
  double l2 = 0;
  DecayScope decay_scope = DecayScope::all;  ///< what `l2` and AdamW's weight decay apply to
  std::optional<MovingAverage> moving_average = std::nullopt;  ///< of the parameters; unset: none
  RowUpdate rows = RowUpdate::exact;                           ///< of row-sparse gradients
  std::vector<ParameterRule> rules = {};  ///< what is different for some parameters
};

/// Fails: UsageError that names the field and its value when one is out of range.
void check(const UpdateOptions& options);

}  // namespace pagoda
