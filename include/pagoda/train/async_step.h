#pragma once

#include <pagoda/train/model_step.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace pagoda {

/// What asynchronous updates may do.
struct AsyncOptions {
  /// Most updates that may come between a tower's read of the parameters and its own update; unset:
  /// any number. 0: the step is the synchronous one, bit for bit.
  std::optional<std::int64_t> max_staleness = std::nullopt;
};

namespace detail {

/// The synchronous engine for a staleness of at most 0.
std::shared_ptr<StepEngine> make_async_engine(TowerGroup& towers, const AnyOptimizer& optimizer,
                                              const StepOptions& options,
                                              const AsyncOptions& async);

}  // namespace detail

/// Every tower computes forward and backward on its own feeds and updates the parameters as soon as
/// its gradient is ready, without waiting for the others: a slow tower does not slow them.
///
/// It stands wherever a SyncStep does. A call of `run` hands its feeds out, in the groups that the
/// towers of a synchronous step would have, each to the next tower that is free; each group makes
/// one update, by the mean over its samples. The call returns when all groups are handed out and an
/// update was made since the last call, and reports the updates since then; `weight` and the
/// learning rate are those of the feeds it handed out. `finish` waits for the rest.
///
/// Atomicity: the unit is a whole update. Updates come one after another, and each tower computes
/// with a copy of the parameters that it takes between two updates: nobody ever reads or changes
/// the parameters, the optimizer's state or the moving average in the middle of one.
///
/// Staleness is the number of updates between a tower's read and its own. With a bound, an update
/// that would make another tower's gradient too old waits for that tower; towers that would wait
/// for each other make one update, by their mean. With 0 that is the synchronous step.
///
/// An update that is s updates old has 1 / (1 + s) of the learning rate: N towers make N updates
/// where the synchronous step makes one, and their full steps would add up. (An optimizer of
/// LibTorch follows only where StepOptions::learning_rate is set.)
///
/// Which updates see which is a matter of timing, so that two runs differ. Dropout and distortions
/// do not: they belong to the feed, not to the tower that gets it. Clipping is of each update's
/// gradient. Towers keep buffers of their own until `finish`, which combines them by the samples
/// that each has seen.
///
/// Threads, owns: as SyncStep. The towers' parameters must be placed on the host.
/// Fails: UsageError for another placement or a negative bound. TowerError when something throws on
/// a tower, from `run` or `finish`: updates that were made stay, those under way are dropped.
///
/// Example:
///     auto towers = make_towers(devices, make_model, {.placement = ParameterPlacement::host});
///     AsyncStep step(towers, Adam{.learning_rate = 1e-3}, {}, {.max_staleness = 8});
///     for (const auto& feeds : data) step.run(feeds, loss);
///     step.finish();
template <class Model>
class AsyncStep : public ModelStep<Model> {
 public:
  /// With a built-in optimizer, one of your own, or one of LibTorch: see AnyOptimizer.
  AsyncStep(Towers<Model>& towers, const AnyOptimizer& optimizer, const StepOptions& options = {},
            const AsyncOptions& async = {})
      : ModelStep<Model>(towers, detail::make_async_engine(towers, optimizer, options, async)) {}
};

}  // namespace pagoda
