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

/// More epochs than anyone will run; times the steps of an epoch it still is a number.
inline constexpr std::int64_t kEndlessEpochs = 1'000'000'000;

template <class F>
class FeedsAhead;

/// The feeds of one step: feed i is for tower i (modulo the number of towers).
template <class F>
struct StepFeeds : std::vector<F> {
  DataPosition after;              ///< where the run stands when this step is done
  std::int64_t smallest_feed = 0;  ///< samples of the smallest feed of an epoch; 0: not known
  std::weak_ptr<FeedsAhead<F>> ahead = {};  ///< those that come after it, where a stream made it
};

/// The feeds of a stream that are made but not handed out yet, for whoever can bring them closer to
/// the towers meanwhile.
///
/// Threads: the stream's consumer; `change` is called in the threads that make feeds.
template <class F>
class FeedsAhead {
 public:
  /// Makes the feeds of step `number`; nothing after the last.
  using Make = std::function<std::optional<StepFeeds<F>>(std::int64_t number)>;
  /// What a feed becomes on its way.
  using Change = std::function<F(const F& feed, std::size_t number)>;

  FeedsAhead(Make make, int threads, int ahead)
      : make_(std::move(make)),
        steps_([this](std::int64_t number) { return made(number); }, threads, ahead) {}

  /// Feeds that are made from here on go through `change(feed, its number in the step)`; the first
  /// call counts.
  void change_made(Change change) {
    std::lock_guard lock(mutex_);
    if (!change_) change_ = std::make_shared<const Change>(std::move(change));
  }

  /// The same for the next step's feeds alone, here and now, where they are made already.
  void change_next(const Change& change) {
    if (next_ || !steps_.is_ready()) return;
    try {
      next_ = steps_.next();
    } catch (...) {
      return;  // `take` meets it again, at the step that it belongs to
    }
    if (next_) change_all(*next_, change);
  }

  /// The next step's feeds; nothing after the last.
  std::optional<StepFeeds<F>> take() {
    return next_ ? std::exchange(next_, std::nullopt) : steps_.next();
  }
  /// Whether `take` would not wait.
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
  std::optional<StepFeeds<F>> next_;  // taken out of steps_ ahead of time
  std::mutex mutex_;
  std::shared_ptr<const Change> change_;  // guarded by mutex_
  Prefetch<StepFeeds<F>> steps_;          // last: its threads use the members above
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
  using Make = typename FeedsAhead<F>::Make;

  FeedStream(Make make, int threads, int ahead)
      : state_(std::make_unique<State>(std::move(make), threads, ahead)) {}

  /// The next step's feeds; null when the epochs are over. Valid until the next call.
  StepFeeds<F>* next() {
    const bool ready = state_->ahead->is_ready();
    const Stopwatch watch;
    state_->current = state_->ahead->take();
    if (!ready) state_->waited_seconds += watch.seconds();
    if (!state_->current) return nullptr;
    state_->current->ahead = state_->ahead;
    return &*state_->current;
  }

  /// Seconds that `next` has waited for data that was not ready.
  double waited_seconds() const { return state_->waited_seconds; }

  /// Steps through the stream, for range-based loops.
  class Iterator {
   public:
    using value_type = StepFeeds<F>;         ///< the feeds of a step
    using difference_type = std::ptrdiff_t;  ///< as iterators have it

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
