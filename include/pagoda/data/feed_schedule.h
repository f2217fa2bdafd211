#pragma once

#include <pagoda/data/feed_plan.h>
#include <pagoda/data/tower_share.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace pagoda {

/// How a data set becomes the feeds of steps.
struct BatchesOptions {
  std::int64_t batch_size = 64;  ///< samples for one tower and one feed
  int feeds_per_tower = 1;       ///< more than 1 accumulates gradients over so many feeds
  bool shuffle = true;           ///< a new order in each epoch
  std::uint64_t seed = 0;        ///< of the order
  /// Every step is full: what is left of an epoch for less than one is left out. For models that
  /// cannot take a small feed, such as BatchNorm one of a single sample.
  bool drop_last = false;
  std::int64_t epochs = 1;  ///< passes over the data, the one that `start` is in included
  DataPosition start = {};  ///< where to begin
  int loader_threads = 1;   ///< threads that make batches ahead of their use
  int prefetch_steps = 4;   ///< steps that may lie ready
  /// Only the first so many samples, or all where there are fewer; unset: all.
  std::optional<std::int64_t> first_samples = std::nullopt;
};

/// The samples of a run of steps from some position on: of every step, those of this process's
/// feeds. What `Batches` makes feeds of.
///
/// Threads: any number may ask at once.
/// Fails: UsageError on construction for bad options.
class FeedSchedule {
 public:
  /// `samples`: of the data set.
  FeedSchedule(std::int64_t samples, TowerShare towers, const BatchesOptions& options);

  /// What a step is made of.
  struct Step {
    std::int64_t epoch = 0;  ///< the pass over the data that it belongs to, from 0
    std::vector<std::vector<std::int64_t>> feeds;  ///< the numbers of the samples of each own feed
    DataPosition after = {};                       ///< where the run stands when the step is done
  };

  /// Step `number` (from 0); nothing after the last.
  std::optional<Step> step(std::int64_t number);

  /// As they were given.
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
  const std::int64_t first_steps_;  // in the epoch that the run begins in

  std::mutex order_mutex_;
  std::int64_t order_epoch_ = -1;  // guarded by order_mutex_
  Order order_;                    // guarded by order_mutex_
};

}  // namespace pagoda
