#pragma once

#include <pagoda/data/dataset.h>
#include <pagoda/data/feed_plan.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <vector>

namespace pagoda {

struct BatchesOptions {
  std::int64_t batch_size = 64;  ///< samples for one tower and one feed
  int feeds_per_tower = 1;       ///< more than 1 accumulates gradients over so many feeds
  bool shuffle = true;           ///< a new order in each epoch
  std::uint64_t seed = 0;        ///< of the order
  std::int64_t epochs = 1;       ///< passes over the data, the one that `start` is in included
  DataPosition start = {};       ///< where to begin
  int loader_threads = 1;        ///< threads that make batches ahead of their use
  int prefetch_steps = 4;        ///< steps that may lie ready
};

/// More epochs than anyone will run.
inline constexpr std::int64_t kEndlessEpochs = std::numeric_limits<std::int64_t>::max() / 2;

/// The feeds of one step: feed i is for tower i (modulo the number of towers).
struct Feeds : std::vector<Batch> {
  DataPosition after;  ///< where the run stands when this step is done
};

/// The steps' feeds in order, made ahead by threads that stand back behind the towers.
///
/// What comes out depends on the options only, not on the number of threads or on timing.
///
/// Threads: one consumer. Owns: its threads. Borrows: the data set, which must outlive it.
/// Fails: UsageError on construction for bad options; what the data set throws, at the step it
/// belongs to. Example:
///     for (auto& feeds : batches(data, towers.size(), {.batch_size = 64})) step.run(feeds, loss);
class Batches {
 public:
  Batches(const Dataset& data, int towers, const BatchesOptions& options);
  ~Batches();
  Batches(Batches&&) noexcept;
  Batches& operator=(Batches&&) noexcept;

  /// The next step's feeds; null when the epochs are over. Valid until the next call.
  Feeds* next();

  const FeedPlan& plan() const;

  /// Seconds that `next` has waited for data that was not ready.
  double waited_seconds() const;

  class Iterator {
   public:
    using value_type = Feeds;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(Batches* source = nullptr) : source_(source) { ++*this; }
    Feeds& operator*() const { return *current_; }
    Iterator& operator++() {
      current_ = source_ ? source_->next() : nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return current_ == nullptr; }

   private:
    Batches* source_;
    Feeds* current_ = nullptr;
  };
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  struct Loader;
  std::unique_ptr<Loader> loader_;
};

inline Batches batches(const Dataset& data, int towers, const BatchesOptions& options = {}) {
  return Batches(data, towers, options);
}

}  // namespace pagoda
