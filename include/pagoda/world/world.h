#pragma once

#include <pagoda/base/error.h>
#include <pagoda/world/world_place.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

/// Another process has failed, is gone or does not answer, or the connection to it is lost. The
/// text names the rank and its machine.
class WorldError : public Error {
 public:
  using Error::Error;
};

/// How long processes wait for each other.
struct WorldOptions {
  std::chrono::milliseconds join_timeout = std::chrono::minutes(5);  ///< for all to join
  std::chrono::milliseconds timeout = std::chrono::minutes(10);      ///< for one exchange
  /// This machine's address as the others reach it; empty: the one from which the master is
  /// reached.
  std::string address = {};
};

/// What has been exchanged, for the log.
struct WorldTraffic {
  std::int64_t exchanges = 0;  ///< number of exchanges
  std::int64_t bytes = 0;      ///< sent by this process
  double seconds = 0;          ///< that it has waited for exchanges
};

/// Tensors on their way between the ranks.
class Swap {
 public:
  virtual ~Swap() = default;

  /// Waits until what was sent may be changed again, and what is to be received has arrived.
  /// Fails: WorldError.
  virtual void wait() = 0;
};

/// All processes that train one model together, and their exchanges, on c10d with gloo.
///
/// Every rank calls the same exchanges in the same order, with tensors of the same sizes and types
/// unless stated otherwise. Results have the same bits on every rank, and in every run of a world
/// of that size. After an exchange has failed, the world cannot be used any more: a launcher must
/// restart all processes.
///
/// Threads: one at a time, except that any thread may call `start_swap`, `fail` and `has_failed`.
/// Fails: WorldError, within `timeout`.
///
/// Example:
///     const auto place = launched_place();
///     if (place) {
///       const auto world = World::join(*place);
///       world->sum(gradient);
///     }
class World {
 public:
  /// Waits for all ranks. If a launcher restarts processes with the store of an earlier start, only
  /// those of the same start find each other. From then on the process ignores SIGPIPE, unless it
  /// has a handler for it.
  /// Fails: WorldError that says who has not joined, or why the master cannot be reached.
  static std::shared_ptr<World> join(const WorldPlace& place, const WorldOptions& options = {});

  /// A world inside this process, for tests: one World for each rank, each to be used by a thread
  /// of its own.
  static std::vector<std::shared_ptr<World>> in_process(int size, const WorldOptions& options = {});

  /// Leaves once all others are leaving too, or after 10 seconds; after a failure, at once.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Number of this process, from 0.
  int rank() const;
  /// Number of processes.
  int size() const;
  /// "rank 1 (b)": a rank and its machine.
  std::string name(int rank) const;
  /// "10.0.0.1": the address at which others reach this process.
  const std::string& address() const;

  /// Replaces each rank's tensor with the sum over all ranks. It must be dense, contiguous and on
  /// the CPU.
  void sum(const at::Tensor& values);

  /// Replaces each rank's tensor with rank `from`'s; the tensors are as for `sum`.
  void broadcast(const at::Tensor& values, int from = 0);

  /// Every rank's tensor, in rank order. They may differ in their first dimension.
  std::vector<at::Tensor> gather(const at::Tensor& own);

  /// The same for tensors of one shape, with a single message to each other rank.
  std::vector<at::Tensor> gather_equal(const at::Tensor& own);

  /// Every rank's text, in rank order.
  std::vector<std::string> gather(const std::string& own);

  /// Starts sending `to[r]` to each other rank r, and receiving `from[r]` from it. The tensors are
  /// as for `sum`; an empty or undefined one is not exchanged. Several swaps may be under way at
  /// once; those of one channel (a number from 0) must start in the same order on all ranks.
  std::unique_ptr<Swap> start_swap(int channel, const std::vector<at::Tensor>& to,
                                   const std::vector<at::Tensor>& from);

  /// The same, but waits until it is done.
  void swap(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from);

  /// Waits until all ranks have called it.
  void barrier();

  /// Tells the others that this rank ends, and why. Their exchanges then fail with this rank's name
  /// and the reason. The first failure in a world is the one that is reported.
  void fail(const std::string& reason) noexcept;

  /// Whether a rank has ended because of a failure, or the store is gone: for code that waits for
  /// something other than an exchange. Asks the store, which takes a while. Any thread.
  bool has_failed() noexcept;

  /// The reasons to stop are numbers from 1 to this.
  static constexpr int kStopReasons = 6;
  /// Asks all processes to stop, for this reason. They agree on it in the next step or, if they
  /// train on their own in between, at the next meeting. If there are several reasons, the lowest
  /// counts.
  void ask_to_stop(int reason);
  int asked_to_stop() const;  ///< this process's reason; 0: it has not asked
  /// Records the reason that all processes have agreed on.
  void agree_to_stop(int reason);
  int agreed_to_stop() const;  ///< that reason, the same for all after the same step; 0: none

  /// What has been exchanged so far.
  WorldTraffic traffic() const;
  /// Adds time that was spent waiting for swaps.
  void count_waiting(double seconds);

 private:
  struct State;
  class Transfers;
  explicit World(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace pagoda
