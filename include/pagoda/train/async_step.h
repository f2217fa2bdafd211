#pragma once

#include <pagoda/train/model_step.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace pagoda {

/// Limits on asynchronous updates.
struct AsyncOptions {
  /// The most updates that may come between a tower's read of the parameters and its own update;
  /// unset: no limit. With 0 the step is the synchronous one, bit for bit.
  std::optional<std::int64_t> max_staleness = std::nullopt;
};

namespace detail {

/// For a maximum staleness of 0, this is the synchronous engine.
std::shared_ptr<StepEngine> make_async_engine(TowerGroup& towers, const AnyOptimizer& optimizer,
                                              const StepOptions& options,
                                              const AsyncOptions& async);

}  // namespace detail

/// Every tower computes forward and backward on its own feeds and updates the parameters as soon as
/// its gradient is ready, without waiting for the others, so a slow tower does not hold them up.
///
/// An AsyncStep can be used wherever a SyncStep can. A call of `run` splits its feeds into the
/// groups that the towers of a synchronous step would get, and hands each group to the next free
/// tower; each group makes one update, from the mean over its samples. The call returns once all
/// groups are handed out and at least one update has been made since the previous call. Its result
/// covers the updates made since then, except for `weight` and the learning rate, which are those
/// of the feeds it handed out. `finish` waits for the rest.
///
/// Atomicity: the unit is a whole update. Updates are made one at a time, and each tower computes
/// on its own copy of the parameters, taken between two updates: nobody ever reads or changes the
/// parameters, the optimizer's state or the moving average in the middle of an update.
///
/// Staleness is the number of updates between a tower's read and its own update. With a bound, an
/// update that would make another tower's gradient too stale waits for that tower; towers that
/// would wait for each other make one update together, from their mean. With a bound of 0, this is
/// the synchronous step.
///
/// An update that is s updates stale uses 1 / (1 + s) of the learning rate: N towers make N updates
/// where the synchronous step makes one, and at the full rate these would add up. (A LibTorch
/// optimizer follows this only if StepOptions::learning_rate is set.)
///
/// Which parameters a tower reads depends on timing, so two runs differ. Dropout and distortions do
/// not: they belong to the feed, not to the tower that computes it. StepOptions::max_grad_norm
/// clips the gradient of each update. Each tower keeps its own buffers until `finish`, which
/// combines them, weighted by the samples that each tower has seen.
///
/// Threads, owns: as SyncStep.
/// Fails: UsageError for a negative bound and, unless the bound is 0, for parameters that are not
/// placed on the host, for several processes (StepOptions::world) and for
/// TowerOptions::sync_batch_norm. TowerError from `run` or `finish` when something throws on a
/// tower, or when a loss is not finite (StepOptions::on_non_finite): updates already made stay,
/// those under way are dropped. DeviceError when a tower misses its deadline.
///
/// Example:
///     auto towers = make_towers(devices, make_model, {.placement = ParameterPlacement::host});
///     AsyncStep step(towers, Adam{.learning_rate = 1e-3}, {}, {.max_staleness = 8});
///     for (const auto& feeds : data) step.run(feeds, loss);
///     step.finish();
template <class Model>
class AsyncStep : public ModelStep<Model> {
 public:
  /// Takes a built-in optimizer, one of your own, or one of LibTorch's; see AnyOptimizer.
  AsyncStep(Towers<Model>& towers, const AnyOptimizer& optimizer, const StepOptions& options = {},
            const AsyncOptions& async = {})
      : ModelStep<Model>(towers, detail::make_async_engine(towers, optimizer, options, async)) {}
};

}  // namespace pagoda
