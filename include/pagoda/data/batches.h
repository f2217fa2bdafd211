#pragma once

#include <pagoda/data/dataset.h>
#include <pagoda/data/feed_schedule.h>
#include <pagoda/data/feed_stream.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace pagoda {

/// The feeds of one step, as batches.
using Feeds = StepFeeds<Batch>;

/// The feeds of a data set for each step, in order, prefetched by threads with lower priority than
/// the towers. For a `Dataset`, it is `Batches`.
///
/// The feeds depend on the data set and the options only, not on the number of threads or on
/// timing. If several processes train together, each makes the feeds of its own towers, and all
/// have the same steps; in some of them, a process may have no feed.
///
/// Threads, functions: those of FeedStream. Borrows: the data set, which must outlive it.
/// Fails: UsageError on construction for invalid options; what the data set throws, at the step it
/// belongs to.
/// Example:
///     for (auto& feeds : batches(data, towers.size(), {.batch_size = 64})) step.run(feeds, loss);
template <class F>
class BatchesOf : public FeedStream<F> {
 public:
  BatchesOf(const DatasetOf<F>& data, TowerShare towers, const BatchesOptions& options)
      : BatchesOf(data, std::make_shared<FeedSchedule>(data.size(), towers, options)) {}

  /// How an epoch is cut into steps.
  const FeedPlan& plan() const { return schedule_->plan(); }

 private:
  BatchesOf(const DatasetOf<F>& data, std::shared_ptr<FeedSchedule> schedule)
      : FeedStream<F>(
            [&data, schedule](std::int64_t number) { return made(data, *schedule, number); },
            schedule->options().loader_threads, schedule->options().prefetch_steps),
        schedule_(std::move(schedule)) {}

  static std::optional<StepFeeds<F>> made(const DatasetOf<F>& data, FeedSchedule& schedule,
                                          std::int64_t number) {
    auto step = schedule.step(number);
    if (!step) return std::nullopt;
    StepFeeds<F> feeds;
    for (auto& samples : step->feeds) {
      feeds.push_back(data.get(samples, step->epoch));
      if constexpr (requires { feeds.back().samples = samples; }) {
        if (feeds.back().samples.empty()) feeds.back().samples = std::move(samples);
      }
    }
    feeds.smallest_feed = schedule.plan().smallest_feed();
    feeds.after = step->after;
    return feeds;
  }

  std::shared_ptr<FeedSchedule> schedule_;  // shared with the function that makes the feeds
};

/// The batches of a Dataset.
using Batches = BatchesOf<Batch>;

/// The feeds of a data set for these towers; a plain number means that all are in this process.
template <class F>
BatchesOf<F> batches(const DatasetOf<F>& data, TowerShare towers,
                     const BatchesOptions& options = {}) {
  return BatchesOf<F>(data, towers, options);
}

}  // namespace pagoda
