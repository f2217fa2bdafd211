#pragma once

#include <pagoda/base/data_position.h>

#include <cstdint>
#include <vector>

namespace pagoda {

/// How samples are dealt out to towers.
struct FeedPlanOptions {
  std::int64_t batch_size = 64;  ///< samples of one feed
  int feeds_per_tower = 1;       ///< more than 1 accumulates gradients over so many feeds
  bool shuffle = true;           ///< a new order in each epoch
  std::uint64_t seed = 0;        ///< of the order
  /// Every step is full: what is left of an epoch for less than one is left out.
  bool drop_last = false;
};

/// Which samples each feed of each step holds.
///
/// An epoch visits every sample once, in an order that depends on seed and epoch only. Each step
/// takes the next towers x feeds_per_tower x batch_size of them; the last step of an epoch takes
/// what is left, divided as evenly as it goes (or with `drop_last` there is none: other samples are
/// left out in each epoch that is shuffled). So the order does not depend on the number of towers,
/// and a run can resume from a position with another number.
///
/// Threads: immutable after construction.
/// Fails: UsageError for numbers that are not positive, and for `drop_last` with less samples than a
/// step takes.
class FeedPlan {
 public:
  FeedPlan(std::int64_t samples, int towers, const FeedPlanOptions& options);

  /// Samples of a step, the last of an epoch excepted; at most all.
  std::int64_t step_samples() const { return step_samples_; }
  /// Steps of a whole epoch.
  std::int64_t steps_per_epoch() const { return steps_from(0); }
  /// Steps from so many consumed samples to the epoch's end.
  std::int64_t steps_from(std::int64_t consumed) const;

  /// Samples of the smallest feed that an epoch has from its beginning.
  std::int64_t smallest_feed() const;

  /// Where a run stands after the step that ends at `consumed` of an epoch.
  DataPosition after(std::int64_t epoch, std::int64_t consumed) const;

  /// The samples of an epoch in their order.
  std::vector<std::int64_t> order(std::int64_t epoch) const;

  /// The feeds of the step that begins at `consumed` of an epoch in this order. Feeds without a
  /// sample are left out.
  std::vector<std::vector<std::int64_t>> feeds(const std::vector<std::int64_t>& order,
                                               std::int64_t consumed) const;

 private:
  std::int64_t samples_;
  std::int64_t feeds_per_step_;
  FeedPlanOptions options_;
  std::int64_t step_samples_;
};

}  // namespace pagoda
