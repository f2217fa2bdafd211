#pragma once

#include <pagoda/data/feed_plan.h>
#include <pagoda/data/tower_share.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace pagoda {

/// How a data set becomes the feeds of training steps.
struct BatchesOptions {
  std::int64_t batch_size = 64;  ///< samples in one feed
  int feeds_per_tower = 1;       ///< more than 1: gradients accumulate over this many feeds
  bool shuffle = true;           ///< a new order in each epoch
  std::uint64_t seed = 0;        ///< seed of the order
  /// Make every step full: samples at the end of an epoch that do not fill a step are left out. For
  /// models that cannot train on a small feed; BatchNorm, for example, cannot on a single sample.
  bool drop_last = false;
  std::int64_t epochs = 1;  ///< passes over the data, including the one that contains `start`
  DataPosition start = {};  ///< where to begin
  int loader_threads = 1;   ///< threads that prepare batches
  int prefetch_steps = 4;   ///< steps that are prepared ahead
  /// Use only the first samples, at most this many; unset: all.
  std::optional<std::int64_t> first_samples = std::nullopt;
};

/// The sequence of steps from a position in the data on: for every step, the samples of this
/// process's feeds. `Batches` makes its feeds from it.
///
/// Threads: any number may call `step` at once.
/// Fails: UsageError on construction for invalid options.
class FeedSchedule {
 public:
  /// `samples` is the size of the data set.
  FeedSchedule(std::int64_t samples, TowerShare towers, const BatchesOptions& options);

  /// The samples of one step.
  struct Step {
    std::int64_t epoch = 0;  ///< the pass over the data that the step belongs to, from 0
    /// The numbers of the samples in each of this process's feeds.
    std::vector<std::vector<std::int64_t>> feeds;
    DataPosition after = {};  ///< the position when the step is done
  };

  /// Step `number`, from 0; nothing after the last.
  std::optional<Step> step(std::int64_t number);

  /// The options it was made with.
  const BatchesOptions& options() const { return options_; }
  /// How an epoch is cut into steps.
  const FeedPlan& plan() const { return plan_; }

 private:
  using Order = std::shared_ptr<const std::vector<std::int64_t>>;

  DataPosition position_of(std::int64_t number) const;
  Order order_of(std::int64_t epoch);

  // Constant after construction.
  const TowerShare share_;
  const BatchesOptions options_;
  const FeedPlan plan_;
  const std::int64_t first_steps_;  // steps left in the epoch that contains `start`

  std::mutex order_mutex_;
  std::int64_t order_epoch_ = -1;  // guarded by order_mutex_
  Order order_;                    // guarded by order_mutex_
};

}  // namespace pagoda
