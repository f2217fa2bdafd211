#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/data/feed_plan.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/random_streams.h"

namespace pagoda {
namespace {

void require_positive(std::int64_t value, const char* what) {
  if (value < 1)
    throw UsageError(std::string(what) + " is " + std::to_string(value) +
                     "; it must be at least 1");
}

}  // namespace

FeedPlan::FeedPlan(std::int64_t samples, int towers, const FeedPlanOptions& options)
    : samples_(samples),
      feeds_per_step_(std::int64_t{towers} * options.feeds_per_tower),
      options_(options) {
  require_positive(samples, "the number of samples in the data set");
  require_positive(towers, "the number of towers");
  require_positive(options.batch_size, "the batch size");
  require_positive(options.feeds_per_tower, "the number of feeds for each tower");
  // The product may not fit into 64 bits, but more than all samples is never needed.
  const bool takes_all = options.batch_size > samples / feeds_per_step_;
  step_samples_ = takes_all ? samples : feeds_per_step_ * options.batch_size;
  if (options.drop_last && takes_all) {
    throw UsageError("drop_last leaves no step: " + counted(feeds_per_step_, "feed") + " of " +
                     counted(options.batch_size, "sample") + " are more than all " +
                     counted(samples, "sample") + "; take a smaller batch or switch drop_last off");
  }
}

std::int64_t FeedPlan::steps_from(std::int64_t consumed) const {
  const std::int64_t left = samples_ - consumed;
  return options_.drop_last ? left / step_samples_ : (left + step_samples_ - 1) / step_samples_;
}

std::int64_t FeedPlan::smallest_feed() const {
  const std::int64_t last = samples_ % step_samples_;
  const std::int64_t count = options_.drop_last || last == 0 ? step_samples_ : last;
  return count / std::min(feeds_per_step_, count);
}

DataPosition FeedPlan::after(std::int64_t epoch, std::int64_t consumed) const {
  return steps_from(consumed) == 0 ? DataPosition{epoch + 1, 0} : DataPosition{epoch, consumed};
}

std::vector<std::int64_t> FeedPlan::order(std::int64_t epoch) const {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples_));
  std::iota(order.begin(), order.end(), 0);
  if (!options_.shuffle) return order;
  SplitMix64 random(RandomStreams(options_.seed).shuffle(epoch));
  for (std::size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[random.below(i + 1)]);
  return order;
}

std::vector<std::vector<std::int64_t>> FeedPlan::feeds(const std::vector<std::int64_t>& order,
                                                       std::int64_t consumed) const {
  const std::int64_t count = std::min(step_samples_, samples_ - consumed);
  const std::int64_t parts = std::min(feeds_per_step_, count);
  std::vector<std::vector<std::int64_t>> feeds;
  for (std::int64_t part = 0; part < parts; ++part) {
    feeds.emplace_back(order.begin() + consumed + count * part / parts,
                       order.begin() + consumed + count * (part + 1) / parts);
  }
  return feeds;
}

}  // namespace pagoda
