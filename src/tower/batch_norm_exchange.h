#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// Lets the BatchNorm layers of all towers know each other's sums, in forward and in backward.
///
/// In a step the k-th feed of a tower goes together with the k-th feeds of all others; towers that
/// have no k-th feed are not waited for. Layers are told apart by the order of their calls, which
/// must be the same on all towers.
///
/// Threads: begin_step on the coordinating thread while no tower runs; next_feed, end_feeds in the
/// tower's; `exchange` in the tower's or in one in which its backward runs; abort in any.
/// Fails: `exchange` throws TowerInterrupted after abort, DeviceError when another tower is late,
/// UsageError when another tower has ended its feed without the call, or all wait in different ones.
class BatchNormExchange {
 public:
  BatchNormExchange(int towers, std::chrono::milliseconds timeout);

  /// Each tower computes so many feeds in the step.
  void begin_step(std::vector<int> feeds);

  void next_feed(int tower);
  void end_feeds(int tower);

  /// A tower has failed or is late: nobody waits any more in this step.
  void abort();

  enum class Pass { forward, backward };
  /// Which call of which feed it is.
  struct Place {
    int tower;
    int feed;
    int call;
    Pass pass;
  };

  /// What all towers have at this place, in their order; the same on all of them.
  std::vector<at::Tensor> exchange(const Place& place, at::Tensor own);

 private:
  using Key = std::tuple<int, int, Pass>;
  struct Meeting {
    std::map<int, at::Tensor> found;  // by tower
    int readers = 0;                  // that have yet to see it complete
  };

  bool takes_part(int tower, int feed) const {
    return feeds_[static_cast<std::size_t>(tower)] > feed;
  }
  std::string missing_from(const Meeting& meeting, int feed) const;
  void check_comes(const Meeting& meeting, int feed) const;
  void complete(Meeting& meeting);

  const std::chrono::milliseconds timeout_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<int> feeds_;   // by tower: of the step
  std::vector<int> at_;      // by tower: the feed that it computes, from 0; -1 before the first
  std::vector<char> waits_;  // by tower: in a meeting that is not complete
  std::map<Key, Meeting> meetings_;
  bool aborted_ = false;
};

/// The feeds of one tower's step, for the BatchNorm layers that are called in the thread in which it
/// lives; one at a time in a thread.
class BatchNormTurn {
 public:
  /// Without an exchange each tower's feed is normalised by itself. `smallest_feed` is the number of
  /// samples of the smallest feed to come, 0 where it is not known.
  BatchNormTurn(std::shared_ptr<BatchNormExchange> exchange, int tower, std::int64_t smallest_feed);
  ~BatchNormTurn();
  BatchNormTurn(const BatchNormTurn&) = delete;
  BatchNormTurn& operator=(const BatchNormTurn&) = delete;

  /// That of this thread; null where there is none.
  static BatchNormTurn* here();

  void next_feed();

  const std::shared_ptr<BatchNormExchange>& exchange() const { return exchange_; }
  std::int64_t smallest_feed() const { return smallest_feed_; }

  /// The next call's place in forward.
  BatchNormExchange::Place next_call();

 private:
  const std::shared_ptr<BatchNormExchange> exchange_;
  const int tower_;
  const std::int64_t smallest_feed_;
  const int exceptions_ = std::uncaught_exceptions();
  int feed_ = -1;
  int calls_ = 0;
};

}  // namespace pagoda
