#pragma once

#include <pagoda/optim/learning_rate.h>
#include <pagoda/optim/parameter_rule.h>

#include <optional>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

// The optimizers, with PyTorch's formulas and default values.

/// Stochastic gradient descent, with momentum if `momentum` is not 0.
struct Sgd {
  LearningRate learning_rate = 0.01;  ///< rate at each step
  double momentum = 0;                ///< fraction of the last update added to the next; 0: none
  double dampening = 0;               ///< fraction of the gradient kept out of the momentum
  bool nesterov = false;  ///< look ahead along the momentum; needs momentum > 0 and dampening 0
};

/// Adam (Kingma and Ba, 2015).
struct Adam {
  LearningRate learning_rate = 1e-3;  ///< rate at each step
  double beta1 = 0.9;                 ///< decay of the gradient's running mean
  double beta2 = 0.999;               ///< decay of the running mean of its square
  double epsilon = 1e-8;              ///< added to the denominator
};

/// Adam with decoupled weight decay (Loshchilov and Hutter, 2019): at every step a parameter loses
/// the fraction learning_rate * weight_decay of itself, whatever its gradient.
struct AdamW {
  LearningRate learning_rate = 1e-3;  ///< rate at each step
  double beta1 = 0.9;                 ///< decay of the gradient's running mean
  double beta2 = 0.999;               ///< decay of the running mean of its square
  double epsilon = 1e-8;              ///< added to the denominator
  double weight_decay = 0.01;         ///< fraction of a parameter, times the rate, lost per step
};

/// Adagrad (Duchi, Hazan and Singer, 2011).
struct Adagrad {
  LearningRate learning_rate = 0.01;  ///< rate at each step
  double rate_decay = 0;  ///< divides the rate of update n (from 1) by 1 + (n - 1) * rate_decay
  double initial_accumulator = 0;  ///< initial value of the sum of squares
  double epsilon = 1e-10;          ///< added to the denominator
};

/// RMSprop (Hinton's lecture 6e, 2012).
struct RmsProp {
  LearningRate learning_rate = 0.01;  ///< rate at each step
  double alpha = 0.99;                ///< decay of the running mean of the gradient's square
  double epsilon = 1e-8;              ///< added to the denominator
  double momentum = 0;                ///< fraction of the last update added to the next; 0: none
  bool centered = false;  ///< normalise by the estimated variance, not the second moment
};

/// One of the built-in optimizers.
using OptimizerOptions = std::variant<Sgd, Adam, AdamW, Adagrad, RmsProp>;

/// Fails: UsageError naming the field and its value if one is out of range.
void check(const OptimizerOptions& options);

/// The learning rate of the optimizer, whichever it is.
const LearningRate& learning_rate_of(const OptimizerOptions& options);

/// Exponential moving average (EMA) of the parameters, kept beside them:
///     a <- decay * a + (1 - decay) * p
struct MovingAverage {
  double decay = 0.99;  ///< fraction of the average that an update keeps
  /// TensorFlow's rule for young averages: the decay at update n (from 1) is
  /// min(decay, (1 + n) / (10 + n)).
  bool num_updates_rule = true;

  /// The decay at an update, counted from 1.
  double decay_at(std::int64_t update) const;
};

/// Which parameters L2 and weight decay apply to.
enum class DecayScope {
  all,      ///< every trainable parameter
  weights,  ///< those with two or more dimensions: no biases, no normalisation
};

/// Whether L2 and weight decay apply to this parameter.
bool decays(DecayScope scope, const at::Tensor& parameter);

/// What happens to the rows that a row-sparse gradient does not touch.
enum class RowUpdate {
  exact,  ///< as with a dense gradient: momentum and running means advance in every row
  lazy,   ///< these rows and their optimizer state stay as they are: faster, slightly different
};

/// What all updates have in common, whatever the optimizer.
struct UpdateOptions {
  /// As if l2/2 times the parameters' sum of squares were added to the loss; clipping includes it.
  double l2 = 0;
  /// What `l2` and the optimizer's weight decay apply to.
  DecayScope decay_scope = DecayScope::all;
  /// Moving average of the parameters; unset: none.
  std::optional<MovingAverage> moving_average = std::nullopt;
  RowUpdate rows = RowUpdate::exact;      ///< for row-sparse gradients
  std::vector<ParameterRule> rules = {};  ///< exceptions for some parameters
};

/// Fails: UsageError naming the field and its value if one is out of range.
void check(const UpdateOptions& options);

}  // namespace pagoda
