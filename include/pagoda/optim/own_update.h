#pragma once

#include <pagoda/optim/learning_rate.h>
#include <pagoda/optim/state_array.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

// An optimizer of your own can be used wherever a built-in one can:
//
//     SyncStep step(towers, Lion{.learning_rate = 1e-4}, {.max_grad_norm = 1.0});
//
// Towers, feeds, clipping, L2, schedule, parameter rules, moving average and checkpoints work the
// same. It is a struct with options and one function, the formula, in one of two forms:
//
// - An ElementFormula computes new values of some elements from their gradients and from numbers
//   that it keeps for each element. It runs in one pass over memory, on all towers at once, each on
//   its share: as fast as the built-in optimizers.
// - A WholeFormula gets a whole parameter as tensors: for norms (LAMB) or matrices (Muon).
//
// Both have a field `learning_rate`. A field or function `state` names the numbers that they keep;
// these start at 0 or at the value given there, and are part of every checkpoint. A field
// `weight_decay`, if there is one, obeys StepOptions::decay_scope and parameter rules: use the
// value in the argument, not your own. examples/own_update.cpp has one of each.

/// Some adjacent elements of a parameter, and everything that belongs to them.
template <class T>
struct ElementBlock {
  std::int64_t count;                     ///< number of elements
  T* parameter;                           ///< to be changed in place
  const T* gradient;                      ///< combined over all towers, clipped, with the L2 term
  std::array<T*, kMaxStateArrays> state;  ///< to be changed in place, in the order of `state`

  double learning_rate;  ///< for this step and parameter
  double weight_decay;   ///< for this parameter
  std::int64_t update;   ///< the number of this update of the parameter, from 1
};

/// A whole parameter, in its shape; the tensors are on the parameter's device.
struct WholeParameter {
  std::string name;               ///< as in the model's state dict
  at::Tensor parameter;           ///< to be changed in place
  at::Tensor gradient;            ///< as in ElementBlock, always dense; may be overwritten
  std::vector<at::Tensor> state;  ///< to be changed in place, in the order of `state`

  double learning_rate;  ///< for this step and parameter
  double weight_decay;   ///< for this parameter
  std::int64_t update;   ///< the number of this update of the parameter, from 1
};

/// An update element by element: called as `formula(block)` with blocks of float and of double.
///
/// It must compute each element from that element alone, and be const: all towers call it at once.
/// With `static constexpr bool rests_without_gradient = true` it promises that a gradient of 0
/// changes neither parameter nor state; rows of an embedding without a gradient are then skipped.
/// Otherwise they are computed, or skipped with RowUpdate::lazy.
///
/// Placements: all on CPU towers; on cards only `host`, where it runs in host memory.
///
/// Example (Lion, Chen et al. 2023):
///     struct Lion {
///       LearningRate learning_rate = 1e-4;
///       double weight_decay = 0;
///       std::vector<StateArray> state = {{"momentum"}};
///
///       template <class T>
///       void operator()(const ElementBlock<T>& block) const {
///         for (std::int64_t i = 0; i < block.count; ++i) {
///           T& m = block.state[0][i];
///           const T g = block.gradient[i], c = T(0.9) * m + T(0.1) * g;
///           const T direction = T((c > 0) - (c < 0)) + T(block.weight_decay) * block.parameter[i];
///           block.parameter[i] -= T(block.learning_rate) * direction;
///           m = T(0.99) * m + T(0.01) * g;
///         }
///       }
///     };
template <class F>
concept ElementFormula = requires(const F& formula, const ElementBlock<float>& floats,
                                  const ElementBlock<double>& doubles) {
  { formula.learning_rate } -> std::convertible_to<LearningRate>;
  formula(floats);
  formula(doubles);
};

/// An update of a whole parameter, called as `formula(parameter)` with gradient recording off.
///
/// It must be const and draw no random numbers: all towers call it at once, either for different
/// parameters or for their own copies of the same one, which must stay equal. A parameter is not
/// divided among towers, and its gradient is summed first, which costs a second pass over memory.
/// Row-sparse gradients arrive as dense ones.
///
/// Placements: `shared`, `host`, and `mirrored` (also on cards); not `spread`, which divides
/// parameters. RowUpdate::lazy is refused.
///
/// Example (the trust ratio of LAMB, You et al. 2020, around plain gradient descent):
///     struct Lars {
///       LearningRate learning_rate = 0.1;
///
///       void operator()(const WholeParameter& whole) const {
///         const auto ratio = whole.parameter.norm() / (whole.gradient.norm() + 1e-12);
///         whole.parameter.sub_(whole.gradient * ratio, whole.learning_rate);
///       }
///     };
template <class F>
concept WholeFormula = requires(const F& formula, const WholeParameter& whole) {
  { formula.learning_rate } -> std::convertible_to<LearningRate>;
  formula(whole);
};

namespace detail {

/// What a formula of either form declares about itself.
struct OwnTraits {
  LearningRate learning_rate;
  std::vector<StateArray> state = {};
  std::optional<double> weight_decay = std::nullopt;
  bool rests_without_gradient = false;
};

template <class F>
OwnTraits traits_of_own(const F& formula) {
  OwnTraits traits{.learning_rate = formula.learning_rate};
  if constexpr (requires { traits.state = formula.state(); }) {
    traits.state = formula.state();
  } else if constexpr (requires { traits.state = formula.state; }) {
    traits.state = formula.state;
  }
  if constexpr (requires { traits.weight_decay = formula.weight_decay; })
    traits.weight_decay = formula.weight_decay;
  if constexpr (requires { F::rests_without_gradient; })
    traits.rests_without_gradient = F::rests_without_gradient;
  return traits;
}

/// An ElementFormula of any type.
class ElementUpdate {
 public:
  explicit ElementUpdate(OwnTraits own_traits) : traits(std::move(own_traits)) {}
  virtual ~ElementUpdate() = default;
  virtual void run(const ElementBlock<float>& block) const = 0;
  virtual void run(const ElementBlock<double>& block) const = 0;

  const OwnTraits traits;
};

template <ElementFormula F>
class ElementUpdateOf final : public ElementUpdate {
 public:
  explicit ElementUpdateOf(F formula)
      : ElementUpdate(traits_of_own(formula)), formula_(std::move(formula)) {}
  void run(const ElementBlock<float>& block) const override { formula_(block); }
  void run(const ElementBlock<double>& block) const override { formula_(block); }

 private:
  const F formula_;
};

/// A WholeFormula of any type.
class WholeUpdate {
 public:
  explicit WholeUpdate(OwnTraits own_traits) : traits(std::move(own_traits)) {}
  virtual ~WholeUpdate() = default;
  virtual void run(const WholeParameter& whole) const = 0;

  const OwnTraits traits;
};

template <WholeFormula F>
class WholeUpdateOf final : public WholeUpdate {
 public:
  explicit WholeUpdateOf(F formula)
      : WholeUpdate(traits_of_own(formula)), formula_(std::move(formula)) {}
  void run(const WholeParameter& whole) const override { formula_(whole); }

 private:
  const F formula_;
};

}  // namespace detail
}  // namespace pagoda
