#pragma once

#include <pagoda/base/data_position.h>

#include <cstdint>
#include <vector>

namespace pagoda {

/// How samples are distributed to towers.
struct FeedPlanOptions {
  std::int64_t batch_size = 64;  ///< samples in one feed
  int feeds_per_tower = 1;       ///< more than 1: gradients accumulate over this many feeds
  bool shuffle = true;           ///< a new order in each epoch
  std::uint64_t seed = 0;        ///< seed of the order
  /// Make every step full: samples at the end of an epoch that do not fill a step are left out.
  bool drop_last = false;
};

/// Decides which samples each feed of each step holds.
///
/// An epoch visits every sample once, in an order that depends on seed and epoch only. Each step
/// takes the next towers x feeds_per_tower x batch_size samples, and the last step of an epoch
/// takes what remains, divided as evenly as possible. (With `drop_last` there is no such step; if
/// the order is shuffled, each epoch leaves out different samples.) The order does not depend on
/// the number of towers, so a run can resume with another number.
///
/// Threads: immutable after construction.
/// Fails: UsageError for numbers that are not positive, and when `drop_last` leaves no step.
class FeedPlan {
 public:
  FeedPlan(std::int64_t samples, int towers, const FeedPlanOptions& options);

  /// Samples in every step except the last of an epoch; at most all samples.
  std::int64_t step_samples() const { return step_samples_; }
  /// Steps in a whole epoch.
  std::int64_t steps_per_epoch() const { return steps_from(0); }
  /// Steps from `consumed` samples of an epoch to its end.
  std::int64_t steps_from(std::int64_t consumed) const;

  /// Samples in the smallest feed of a whole epoch.
  std::int64_t smallest_feed() const;

  /// The position after a step that ends at `consumed` samples of an epoch.
  DataPosition after(std::int64_t epoch, std::int64_t consumed) const;

  /// The numbers of the samples in the order of an epoch.
  std::vector<std::int64_t> order(std::int64_t epoch) const;

  /// The feeds of the step that begins at `consumed` samples of an epoch with this order. Feeds
  /// without samples are left out.
  std::vector<std::vector<std::int64_t>> feeds(const std::vector<std::int64_t>& order,
                                               std::int64_t consumed) const;

 private:
  std::int64_t samples_;
  std::int64_t feeds_per_step_;
  FeedPlanOptions options_;
  std::int64_t step_samples_;
};

}  // namespace pagoda
