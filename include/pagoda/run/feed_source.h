#pragma once

#include <pagoda/data/batches.h>
#include <pagoda/run/run_options.h>

#include <cstdint>
#include <memory>
#include <string>

namespace pagoda {

/// Where a run's feeds come from. Derive from it to train on feeds of your own.
///
/// What it returns must be a function of the position only: a run that resumes asks for the same
/// feeds again.
///
/// Threads: the coordinating thread.
template <class F>
class FeedSource {
 public:
  virtual ~FeedSource() = default;

  /// The feeds from a position on, for this many epochs, counting the one that the position is in.
  virtual std::shared_ptr<FeedStream<F>> stream(const DataPosition& start, std::int64_t epochs) = 0;

  /// Number of steps from a position to the end of its epoch.
  virtual std::int64_t steps_from(const DataPosition& position) const = 0;

  /// What a step consists of, for the log: "batch 64 a tower, 128 a step".
  virtual std::string about() const = 0;

  /// What the weight of a feed counts.
  virtual std::string unit() const { return "samples"; }
};

namespace detail {

/// How a run cuts its data into batches. Fails: UsageError when the batch cannot be divided among
/// the towers.
BatchesOptions run_batches(const RunOptions& options, int towers);

/// "batch 64 a tower, 128 a step".
std::string batches_text(std::int64_t tower_samples, std::int64_t step_samples);

}  // namespace detail

/// The batches of a data set, cut as a run's options say; `BatchSource` is the one for a `Dataset`.
///
/// Borrows: the data set, which must outlive it.
/// Fails: UsageError when the batch cannot be divided among the towers.
template <class F>
class BatchSourceOf : public FeedSource<F> {
 public:
  /// `towers`: the run's `share()`.
  BatchSourceOf(const DatasetOf<F>& data, const RunOptions& options, TowerShare towers)
      : data_(data),
        batches_(detail::run_batches(options, towers.total)),
        towers_(towers),
        plan_(FeedSchedule(data.size(), towers, batches_).plan()),
        tower_samples_(batches_.batch_size * options.stages.parts()) {}

  std::shared_ptr<FeedStream<F>> stream(const DataPosition& start, std::int64_t epochs) override {
    BatchesOptions options = batches_;
    options.start = start;
    options.epochs = epochs;
    return std::make_shared<BatchesOf<F>>(data_, towers_, options);
  }

  std::int64_t steps_from(const DataPosition& position) const override {
    return plan_.steps_from(position.consumed);
  }

  std::string about() const override {
    return detail::batches_text(tower_samples_, plan_.step_samples());
  }

 private:
  const DatasetOf<F>& data_;
  const BatchesOptions batches_;
  const TowerShare towers_;
  const FeedPlan plan_;
  const std::int64_t tower_samples_;
};

/// The batches of a Dataset.
using BatchSource = BatchSourceOf<Batch>;

}  // namespace pagoda
