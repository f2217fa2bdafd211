#pragma once

#include <pagoda/train/model_step.h>

#include <memory>

namespace pagoda {
namespace detail {

std::shared_ptr<StepEngine> make_sync_engine(TowerGroup& towers, const AnyOptimizer& optimizer,
                                             const StepOptions& options);

}  // namespace detail

/// Every tower computes forward and backward on its own feeds; then the gradients are combined and
/// the parameters are updated once.
///
/// N towers with B samples each compute what one tower computes with N·B samples: each feed counts
/// by its weight, and the sum is taken in tower order. Feed f goes to tower f mod N. With more
/// feeds than towers, gradients accumulate; with fewer, some towers have no work. A step is a
/// function of the parameters, the optimizer's state, the feeds, the seed and the step's number:
/// repeating it gives the same bits.
///
/// Threads, owns: as Step.
/// Fails: TowerError when something throws on a tower. Before the phase "update" nothing has
/// changed, and the step can be repeated; after a failure in that phase, some parameters are new
/// and some old: load a checkpoint. DeviceError when a tower misses its deadline; it may still call
/// the loss function afterwards. DataError when a loss is not finite (StepOptions::on_non_finite).
/// WorldError when another process fails.
///
/// Example:
///     SyncStep step(towers, Adam{.learning_rate = 1e-3}, {.max_grad_norm = 5.0});
///     auto result = step.run(feeds, [](LeNet5& model, const Batch& batch) {
///       return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
///     });
template <class Model>
class SyncStep : public ModelStep<Model> {
 public:
  /// Takes a built-in optimizer, one of your own, or one of LibTorch's; see AnyOptimizer.
  SyncStep(Towers<Model>& towers, const AnyOptimizer& optimizer, const StepOptions& options = {})
      : ModelStep<Model>(towers, detail::make_sync_engine(towers, optimizer, options)) {}
};

}  // namespace pagoda
