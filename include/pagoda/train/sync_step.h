#pragma once

#include <pagoda/train/model_step.h>

#include <memory>

namespace pagoda {
namespace detail {

std::shared_ptr<StepEngine> make_sync_engine(TowerGroup& towers, const AnyOptimizer& optimizer,
                                             const StepOptions& options);

}  // namespace detail

/// Every tower computes forward and backward on its own feeds; then the gradients are combined and
/// the parameters updated, once.
///
/// N towers with B samples each compute what one tower computes with N·B samples: feeds count by
/// their weight, and the sum is taken in tower order. Feed f goes to tower f mod N, so that more
/// feeds than towers accumulate gradients, and fewer leave some towers without work. A step is a
/// function of the parameters, the feeds, the seed and its number: repeating it gives the same
/// bits.
///
/// Threads, owns: as Step.
/// Fails: TowerError when something throws on a tower. Until the phase "update" nothing has changed
/// and the step can be tried again; after a failure in it the parameters are part new, part old:
/// load a checkpoint. DeviceError when a tower is late; it may then still call the loss function.
///
/// Example:
///     SyncStep step(towers, Adam{.learning_rate = 1e-3}, {.max_grad_norm = 5.0});
///     auto result = step.run(feeds, [](LeNet5& model, const Batch& batch) {
///       return torch::nn::functional::cross_entropy(model(batch.input), batch.target);
///     });
template <class Model>
class SyncStep : public ModelStep<Model> {
 public:
  /// With a built-in optimizer, one of your own, or one of LibTorch: see AnyOptimizer.
  SyncStep(Towers<Model>& towers, const AnyOptimizer& optimizer, const StepOptions& options = {})
      : ModelStep<Model>(towers, detail::make_sync_engine(towers, optimizer, options)) {}
};

}  // namespace pagoda
