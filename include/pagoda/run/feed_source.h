#pragma once

#include <pagoda/data/batches.h>
#include <pagoda/run/run_options.h>

#include <cstdint>
#include <memory>
#include <string>

namespace pagoda {

/// Where a run's feeds come from. Derive from it to train on feeds of your own.
///
/// What it gives is a function of the position only: a run that resumes asks for the same feeds
/// again.
///
/// Threads: the coordinating thread.
template <class F>
class FeedSource {
 public:
  virtual ~FeedSource() = default;

  /// The feeds from a position on, for so many epochs, the one that the position is in included.
  virtual std::shared_ptr<FeedStream<F>> stream(const DataPosition& start, std::int64_t epochs) = 0;

  /// Steps from a position to the end of its epoch.
  virtual std::int64_t steps_from(const DataPosition& position) const = 0;

  /// What a step has, for the log: "batch 64 a tower, 128 a step".
  virtual std::string about() const = 0;

  /// What the weight of a feed counts.
  virtual std::string unit() const { return "samples"; }
};

/// The batches of a data set, cut as the options of a run say.
///
/// Borrows: the data set.
/// Fails: UsageError when the batch cannot be divided among the towers.
class BatchSource : public FeedSource<Batch> {
 public:
  /// `towers`: a run's `share`.
  BatchSource(const Dataset& data, const RunOptions& options, TowerShare towers);

  std::shared_ptr<FeedStream<Batch>> stream(const DataPosition& start,
                                            std::int64_t epochs) override;
  std::int64_t steps_from(const DataPosition& position) const override;
  std::string about() const override;

 private:
  const std::unique_ptr<const Dataset> first_samples_;  // null unless it overfits
  const Dataset& data_;
  const BatchesOptions batches_;
  const TowerShare towers_;
  const FeedPlan plan_;
  const std::int64_t tower_samples_;
};

}  // namespace pagoda
