#include <pagoda/run/feed_source.h>

#include <algorithm>

namespace pagoda {
namespace {

/// The first samples of a data set.
class FirstSamples : public Dataset {
 public:
  FirstSamples(const Dataset& data, std::int64_t count)
      : data_(data), size_(std::min(count, data.size())) {}

  std::int64_t size() const override { return size_; }
  Batch get(std::span<const std::int64_t> samples, std::int64_t epoch) const override {
    return data_.get(samples, epoch);
  }

 private:
  const Dataset& data_;
  const std::int64_t size_;
};

std::unique_ptr<const Dataset> to_overfit(const Dataset& data, const RunOptions& options,
                                          int towers) {
  if (options.overfit_batches == 0) return nullptr;
  const std::int64_t step_samples = feed_size(options, towers) * feeds_per_tower(options) * towers;
  return std::make_unique<FirstSamples>(data, options.overfit_batches * step_samples);
}

BatchesOptions batches_options(const RunOptions& options, int towers) {
  return {.batch_size = feed_size(options, towers),
          .feeds_per_tower = feeds_per_tower(options),
          .seed = options.seed,
          .loader_threads = options.loader_threads};
}

FeedPlan plan_of(const Dataset& data, int towers, const BatchesOptions& options) {
  return FeedPlan(data.size(), towers,
                  {.batch_size = options.batch_size, .feeds_per_tower = options.feeds_per_tower});
}

}  // namespace

BatchSource::BatchSource(const Dataset& data, const RunOptions& options, TowerShare towers)
    : first_samples_(to_overfit(data, options, towers.total)),
      data_(first_samples_ ? *first_samples_ : data),
      batches_(batches_options(options, towers.total)),
      towers_(towers),
      plan_(plan_of(data_, towers.total, batches_)),
      tower_samples_(batches_.batch_size * options.stages.parts()) {}

std::shared_ptr<FeedStream<Batch>> BatchSource::stream(const DataPosition& start,
                                                       std::int64_t epochs) {
  BatchesOptions options = batches_;
  options.start = start;
  options.epochs = epochs;
  return std::make_shared<Batches>(data_, towers_, options);
}

std::int64_t BatchSource::steps_from(const DataPosition& position) const {
  return plan_.steps_from(position.consumed);
}

std::string BatchSource::about() const {
  return "batch " + std::to_string(tower_samples_) + " a tower, " +
         std::to_string(plan_.step_samples()) + " a step";
}

}  // namespace pagoda
