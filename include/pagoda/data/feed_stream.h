#pragma once

#include <pagoda/base/stopwatch.h>
#include <pagoda/data/feed_plan.h>
#include <pagoda/data/prefetch.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace pagoda {

/// More epochs than anyone will run, but few enough that the number of steps does not overflow.
inline constexpr std::int64_t kEndlessEpochs = 1'000'000'000;

template <class F>
class FeedsAhead;

/// The feeds of one step: feed i is for tower i of this process, modulo its number of towers.
template <class F>
struct StepFeeds : std::vector<F> {
  DataPosition after;              ///< the position when this step is done
  std::int64_t smallest_feed = 0;  ///< samples in the smallest feed of an epoch; 0: not known
  std::weak_ptr<FeedsAhead<F>> ahead = {};  ///< the feeds of later steps, if a stream made this one
};

/// The feeds of a stream that are not handed out yet, so that they can be changed before they are
/// needed; for example, copied to the towers' devices.
///
/// Threads: the stream's consumer only. The change passed to `change_made` runs in the threads that
/// make feeds, several at once.
template <class F>
class FeedsAhead {
 public:
  /// Makes the feeds of step `number`; nothing after the last.
  using Make = std::function<std::optional<StepFeeds<F>>(std::int64_t number)>;
  /// Returns the changed feed; `number` is the feed's number in the step.
  using Change = std::function<F(const F& feed, std::size_t number)>;

  FeedsAhead(Make make, int threads, int ahead)
      : make_(std::move(make)),
        steps_([this](std::int64_t number) { return made(number); }, threads, ahead) {}

  /// Applies `change` to all feeds that are made from now on. Only the first call has an effect.
  void change_made(Change change) {
    std::lock_guard lock(mutex_);
    if (!change_) change_ = std::make_shared<const Change>(std::move(change));
  }

  /// Applies `change` to the next step's feeds now, if they are ready; only once for each step.
  void change_next(const Change& change) {
    if (next_ || !steps_.is_ready()) return;
    try {
      next_ = steps_.next();
    } catch (...) {
      return;  // `take` throws it again, at the step that it belongs to
    }
    if (next_) change_all(*next_, change);
  }

  /// The next step's feeds; nothing after the last.
  std::optional<StepFeeds<F>> take() {
    return next_ ? std::exchange(next_, std::nullopt) : steps_.next();
  }
  /// Whether `take` would return without waiting.
  bool is_ready() const { return next_ || steps_.is_ready(); }

 private:
  static void change_all(StepFeeds<F>& feeds, const Change& change) {
    for (std::size_t i = 0; i < feeds.size(); ++i) feeds[i] = change(feeds[i], i);
  }

  std::optional<StepFeeds<F>> made(std::int64_t number) {
    auto feeds = make_(number);
    std::shared_ptr<const Change> change;
    {
      std::lock_guard lock(mutex_);
      change = change_;
    }
    if (feeds && change) change_all(*feeds, *change);
    return feeds;
  }

  const Make make_;
  std::optional<StepFeeds<F>> next_;  // already taken from steps_
  std::mutex mutex_;
  std::shared_ptr<const Change> change_;  // guarded by mutex_
  Prefetch<StepFeeds<F>> steps_;          // last: its threads use the members above
};

/// The feeds for each step, in order, prefetched by threads with lower priority than the towers. A
/// function given by the derived class makes them: see Batches and SequenceBatches.
///
/// Threads: one consumer. Owns: its threads.
/// Fails: what `make` throws, at the step it belongs to; DeviceError if a thread cannot be started.
template <class F>
class FeedStream {
 public:
  /// Makes the feeds of step `number`, from 0, or nothing after the last: a pure function of the
  /// number, which several threads call at once.
  using Make = typename FeedsAhead<F>::Make;

  FeedStream(Make make, int threads, int ahead)
      : state_(std::make_unique<State>(std::move(make), threads, ahead)) {}

  /// The next step's feeds; null after the last step. Valid until the next call.
  StepFeeds<F>* next() {
    const bool ready = state_->ahead->is_ready();
    const Stopwatch watch;
    state_->current = state_->ahead->take();
    if (!ready) state_->waited_seconds += watch.seconds();
    if (!state_->current) return nullptr;
    state_->current->ahead = state_->ahead;
    return &*state_->current;
  }

  /// Seconds that `next` has spent waiting for feeds that were not ready.
  double waited_seconds() const { return state_->waited_seconds; }

  /// Iterates over the steps, for range-based loops.
  class Iterator {
   public:
    using value_type = StepFeeds<F>;         ///< the feeds of a step
    using difference_type = std::ptrdiff_t;  ///< as iterators require

    /// Takes the first step of the stream.
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
  /// For range-based loops; takes the first step.
  Iterator begin() { return Iterator(this); }
  /// Where the stream ends.
  std::default_sentinel_t end() const { return {}; }

 private:
  struct State {
    State(Make make, int threads, int ahead)
        : ahead(std::make_shared<FeedsAhead<F>>(std::move(make), threads, ahead)) {}

    std::optional<StepFeeds<F>> current;
    double waited_seconds = 0;
    std::shared_ptr<FeedsAhead<F>> ahead;
  };
  std::unique_ptr<State> state_;
};

}  // namespace pagoda
