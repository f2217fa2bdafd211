#include <pagoda/base/error.h>
#include <pagoda/data/feed_schedule.h>

#include <algorithm>
#include <string>
#include <utility>

namespace pagoda {
namespace {

const BatchesOptions& checked(const BatchesOptions& options, std::int64_t samples) {
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
  return options;
}

std::int64_t used_samples(std::int64_t samples, const BatchesOptions& options) {
  return std::min(samples, options.first_samples.value_or(samples));
}

}  // namespace

FeedSchedule::FeedSchedule(std::int64_t samples, TowerShare towers, const BatchesOptions& options)
    : share_(towers),
      options_(checked(options, used_samples(samples, options))),
      plan_(used_samples(samples, options), towers.total,
            {.batch_size = options.batch_size,
             .feeds_per_tower = options.feeds_per_tower,
             .shuffle = options.shuffle,
             .seed = options.seed,
             .drop_last = options.drop_last}),
      first_steps_(plan_.steps_from(options.start.consumed)) {}

/// Where step `number` begins.
DataPosition FeedSchedule::position_of(std::int64_t number) const {
  if (number < first_steps_) {
    return {options_.start.epoch, options_.start.consumed + number * plan_.step_samples()};
  }
  const std::int64_t later = number - first_steps_;
  return {options_.start.epoch + 1 + later / plan_.steps_per_epoch(),
          later % plan_.steps_per_epoch() * plan_.step_samples()};
}

std::optional<FeedSchedule::Step> FeedSchedule::step(std::int64_t number) {
  const DataPosition begin = position_of(number);
  if (begin.epoch - options_.start.epoch >= options_.epochs) return std::nullopt;
  const Order order = order_of(begin.epoch);
  Step step{.epoch = begin.epoch, .feeds = {}};
  std::int64_t consumed = begin.consumed;
  std::size_t number_of_feed = 0;
  for (auto& samples : plan_.feeds(*order, begin.consumed)) {
    consumed += static_cast<std::int64_t>(samples.size());
    if (share_.has_feed(number_of_feed++)) step.feeds.push_back(std::move(samples));
  }
  step.after = plan_.after(begin.epoch, consumed);
  return step;
}

/// Loader threads work on one epoch, or on two at its end: the newest order is kept.
FeedSchedule::Order FeedSchedule::order_of(std::int64_t epoch) {
  std::lock_guard lock(order_mutex_);
  if (epoch == order_epoch_) return order_;
  auto made = std::make_shared<const std::vector<std::int64_t>>(plan_.order(epoch));
  if (epoch > order_epoch_) {
    order_epoch_ = epoch;
    order_ = made;
  }
  return made;
}

}  // namespace pagoda
