#include <pagoda/base/error.h>
#include <pagoda/data/batches.h>

#include <mutex>
#include <string>
#include <utility>

namespace pagoda {
namespace {

void check(const BatchesOptions& options, std::int64_t samples) {
  if (options.epochs < 1 || options.loader_threads < 1 || options.prefetch_steps < 1) {
    throw UsageError("epochs (" + std::to_string(options.epochs) + "), loader threads (" +
                     std::to_string(options.loader_threads) + ") and prefetched steps (" +
                     std::to_string(options.prefetch_steps) + ") must be at least 1");
  }
  if (options.start.epoch < 0 || options.start.consumed < 0 || options.start.consumed > samples) {
    throw UsageError("cannot begin after " + std::to_string(options.start.consumed) +
                     " samples of epoch " + std::to_string(options.start.epoch) +
                     ": an epoch has " + std::to_string(samples));
  }
}

}  // namespace

struct Batches::Loader {
  Loader(const Dataset& data, const TowerShare& towers, const BatchesOptions& batches_options)
      : dataset(data),
        share(towers),
        options(batches_options),
        plan(data.size(), towers.total,
             {.batch_size = options.batch_size,
              .feeds_per_tower = options.feeds_per_tower,
              .shuffle = options.shuffle,
              .seed = options.seed,
              .drop_last = options.drop_last}),
        first_steps(plan.steps_from(options.start.consumed)) {}

  /// Where step `number` of this loader begins.
  DataPosition position_of(std::int64_t number) const {
    if (number < first_steps) {
      return {options.start.epoch, options.start.consumed + number * plan.step_samples()};
    }
    const std::int64_t later = number - first_steps;
    return {options.start.epoch + 1 + later / plan.steps_per_epoch(),
            later % plan.steps_per_epoch() * plan.step_samples()};
  }

  std::optional<Feeds> make(std::int64_t number) {
    const DataPosition begin = position_of(number);
    if (begin.epoch - options.start.epoch >= options.epochs) return std::nullopt;
    const auto order = order_of(begin.epoch);
    Feeds feeds;
    std::int64_t consumed = begin.consumed;
    std::size_t number_of_feed = 0;
    for (const auto& samples : plan.feeds(*order, begin.consumed)) {
      consumed += static_cast<std::int64_t>(samples.size());
      if (!share.has_feed(number_of_feed++)) continue;
      feeds.push_back(dataset.get(samples, begin.epoch));
      if (feeds.back().samples.empty()) feeds.back().samples = samples;
    }
    feeds.smallest_feed = plan.smallest_feed();
    feeds.after = plan.after(begin.epoch, consumed);
    return feeds;
  }

  /// Loader threads work on one epoch, or on two at its end: the newest order is kept.
  std::shared_ptr<const std::vector<std::int64_t>> order_of(std::int64_t epoch) {
    std::lock_guard lock(order_mutex);
    if (epoch == order_epoch) return order;
    auto made = std::make_shared<const std::vector<std::int64_t>>(plan.order(epoch));
    if (epoch > order_epoch) {
      order_epoch = epoch;
      order = made;
    }
    return made;
  }

  // Constant after construction.
  const Dataset& dataset;
  const TowerShare share;
  const BatchesOptions options;
  const FeedPlan plan;
  const std::int64_t first_steps;  // in the epoch that the run begins in

  std::mutex order_mutex;
  std::int64_t order_epoch = -1;                           // guarded by order_mutex
  std::shared_ptr<const std::vector<std::int64_t>> order;  // guarded by order_mutex
};

Batches::Batches(const Dataset& data, TowerShare towers, const BatchesOptions& options)
    : Batches((check(options, data.size()), std::make_shared<Loader>(data, towers, options))) {}

Batches::Batches(std::shared_ptr<Loader> loader)
    : FeedStream([loader](std::int64_t number) { return loader->make(number); },
                 loader->options.loader_threads, loader->options.prefetch_steps),
      loader_(std::move(loader)) {}

const FeedPlan& Batches::plan() const { return loader_->plan; }

}  // namespace pagoda
