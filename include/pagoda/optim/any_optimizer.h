#pragma once

#include <pagoda/optim/optimizer_options.h>
#include <pagoda/optim/own_update.h>

#include <concepts>
#include <memory>
#include <utility>
#include <variant>

namespace torch::optim {
class Optimizer;
}

namespace pagoda {

/// What a step updates the parameters with; every step's constructor takes one of these:
///
/// - a built-in optimizer: `Adam{.learning_rate = 1e-3}`,
/// - an optimizer of your own, as a formula: see own_update.h,
/// - a `torch::optim::Optimizer`, built from `towers.parameters()`, which must outlive the step; it
///   updates a single copy of the parameters (placements `shared` and `host`).
class AnyOptimizer {
 public:
  /// One of these three; a formula has one of two forms.
  using Choice = std::variant<OptimizerOptions, torch::optim::Optimizer*,
                              std::shared_ptr<const detail::ElementUpdate>,
                              std::shared_ptr<const detail::WholeUpdate>>;

  // Not explicit, so that each of them converts to it.
  /// A built-in optimizer.
  template <std::convertible_to<OptimizerOptions> Builtin>
  AnyOptimizer(Builtin optimizer) : choice_(OptimizerOptions(std::move(optimizer))) {}  // NOLINT
  /// One of LibTorch's optimizers.
  AnyOptimizer(torch::optim::Optimizer& optimizer) : choice_(&optimizer) {}  // NOLINT
  /// A formula that updates element by element.
  template <ElementFormula F>
  AnyOptimizer(F formula)  // NOLINT
      : choice_(std::make_shared<const detail::ElementUpdateOf<F>>(std::move(formula))) {}
  /// A formula that updates whole parameters.
  template <WholeFormula F>
  AnyOptimizer(F formula)  // NOLINT
      : choice_(std::make_shared<const detail::WholeUpdateOf<F>>(std::move(formula))) {}

  /// The optimizer that was given.
  const Choice& choice() const { return choice_; }

 private:
  Choice choice_;
};

}  // namespace pagoda
