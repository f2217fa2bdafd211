#pragma once

#include <pagoda/base/stopwatch.h>
#include <pagoda/data/feed_plan.h>
#include <pagoda/data/prefetch.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pagoda {

/// More epochs than anyone will run; times the steps of an epoch it still is a number.
inline constexpr std::int64_t kEndlessEpochs = 1'000'000'000;

/// The feeds of one step: feed i is for tower i (modulo the number of towers).
template <class F>
struct StepFeeds : std::vector<F> {
  DataPosition after;              ///< where the run stands when this step is done
  std::int64_t smallest_feed = 0;  ///< samples of the smallest feed of an epoch; 0: not known
};

/// The steps' feeds in order, made ahead by threads that stand back behind the towers. What makes
/// them decides what they are: see Batches and SequenceBatches.
///
/// Threads: one consumer. Owns: its threads.
/// Fails: what `make` throws, at the step it belongs to.
template <class F>
class FeedStream {
 public:
  /// Makes the feeds of step `number` (from 0), or nothing after the last; a pure function of the
  /// number that several threads call at once.
  using Make = std::function<std::optional<StepFeeds<F>>(std::int64_t number)>;

  FeedStream(Make make, int threads, int ahead)
      : state_(std::make_unique<State>(std::move(make), threads, ahead)) {}

  /// The next step's feeds; null when the epochs are over. Valid until the next call.
  StepFeeds<F>* next() {
    const bool ready = state_->steps.is_ready();
    const Stopwatch watch;
    state_->current = state_->steps.next();
    if (!ready) state_->waited_seconds += watch.seconds();
    return state_->current ? &*state_->current : nullptr;
  }

  /// Seconds that `next` has waited for data that was not ready.
  double waited_seconds() const { return state_->waited_seconds; }

  class Iterator {
   public:
    using value_type = StepFeeds<F>;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(FeedStream* source = nullptr) : source_(source) { ++*this; }
    StepFeeds<F>& operator*() const { return *current_; }
    Iterator& operator++() {
      current_ = source_ ? source_->next() : nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return current_ == nullptr; }

   private:
    FeedStream* source_;
    StepFeeds<F>* current_ = nullptr;
  };
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  struct State {
    State(Make make, int threads, int ahead) : steps(std::move(make), threads, ahead) {}

    std::optional<StepFeeds<F>> current;
    double waited_seconds = 0;
    Prefetch<StepFeeds<F>> steps;
  };
  std::unique_ptr<State> state_;
};

}  // namespace pagoda
