#pragma once

#include <pagoda/data/dataset.h>
#include <pagoda/data/feed_plan.h>
#include <pagoda/data/feed_stream.h>
#include <pagoda/data/tower_share.h>

#include <cstdint>
#include <memory>

namespace pagoda {

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
};

using Feeds = StepFeeds<Batch>;

/// The steps' feeds in order, made ahead by threads that stand back behind the towers.
///
/// What comes out depends on the options only, not on the number of threads or on timing. Where
/// several processes train together, each makes the feeds of its own towers, and steps are the same
/// everywhere; a step may have no feed for this one.
///
/// Threads, functions: those of FeedStream. Borrows: the data set, which must outlive it.
/// Fails: UsageError on construction for bad options; what the data set throws, at the step it
/// belongs to.
/// Example:
///     for (auto& feeds : batches(data, towers.size(), {.batch_size = 64})) step.run(feeds, loss);
class Batches : public FeedStream<Batch> {
 public:
  Batches(const Dataset& data, TowerShare towers, const BatchesOptions& options);

  const FeedPlan& plan() const;

 private:
  struct Loader;
  explicit Batches(std::shared_ptr<Loader> loader);

  std::shared_ptr<Loader> loader_;  // shared with what makes the feeds
};

inline Batches batches(const Dataset& data, TowerShare towers, const BatchesOptions& options = {}) {
  return Batches(data, towers, options);
}

}  // namespace pagoda
