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

/// Another process has failed, is gone or does not answer, or the way to it is cut. The text names
/// the rank and its machine.
class WorldError : public Error {
 public:
  using Error::Error;
};

/// How long processes wait for each other.
struct WorldOptions {
  std::chrono::milliseconds join_timeout = std::chrono::minutes(5);  ///< until all have come
  std::chrono::milliseconds timeout = std::chrono::minutes(10);      ///< of one exchange
  /// This machine's address towards the others; empty: the one from which the master is reached.
  std::string address = {};
};

/// What travelled, for the log.
struct WorldTraffic {
  std::int64_t exchanges = 0;  ///< how often data was exchanged
  std::int64_t bytes = 0;      ///< that this process sent
  double seconds = 0;          ///< that it waited for them
};

/// Tensors on their way between the ranks.
class Swap {
 public:
  virtual ~Swap() = default;

  /// Until what was sent may be changed again, and what is received is there. Fails: WorldError.
  virtual void wait() = 0;
};

/// All processes that train one model together, and what they exchange, on c10d with gloo.
///
/// Every rank calls the same exchanges in the same order, with tensors of the same sizes and types
/// where nothing else is said. Results are the same bits on every rank, and in every run of a world
/// of that size. After an exchange that failed, the world is of no use any more: a launcher starts
/// all processes anew.
///
/// Threads: one at a time, but for `start_swap`, `fail` and `has_failed`, which any may call.
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
  /// Waits for all ranks. Where a launcher starts processes anew with the store of those before,
  /// only those of one start find each other. From then on the process ignores SIGPIPE, unless it has
  /// a handler for it.
  /// Fails: WorldError that says who has not come, or why the master cannot be reached.
  static std::shared_ptr<World> join(const WorldPlace& place, const WorldOptions& options = {});

  /// A world inside of this process: a rank for each of so many threads, for tests.
  static std::vector<std::shared_ptr<World>> in_process(int size, const WorldOptions& options = {});

  /// Leaves, once all others have come to that too; after a failure at once.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Number of this process, from 0.
  int rank() const;
  /// How many processes there are.
  int size() const;
  /// "rank 1 (b)": a process and its machine.
  std::string name(int rank) const;
  /// "10.0.0.1": what others reach this process at.
  const std::string& address() const;

  /// Puts the sum over all ranks into each rank's tensor, which is dense, contiguous and on the CPU.
  void sum(const at::Tensor& values);

  /// Puts rank `from`'s values into each rank's tensor, which is as for `sum`.
  void broadcast(const at::Tensor& values, int from = 0);

  /// Every rank's tensor, by rank. They may differ in their first dimension.
  std::vector<at::Tensor> gather(const at::Tensor& own);

  /// The same for tensors of one shape, in one message for each other rank.
  std::vector<at::Tensor> gather_equal(const at::Tensor& own);

  /// Every rank's text, by rank.
  std::vector<std::string> gather(const std::string& own);

  /// Begins to send `to[r]` to each other rank r, and to receive `from[r]` of it; these are as for
  /// `sum`, and an empty or undefined one does not travel. Several swaps may be under way; those of
  /// one channel (a number from 0) begin in the same order on all ranks.
  std::unique_ptr<Swap> start_swap(int channel, const std::vector<at::Tensor>& to,
                                   const std::vector<at::Tensor>& from);

  /// The same, and waits for it.
  void swap(const std::vector<at::Tensor>& to, const std::vector<at::Tensor>& from);

  /// Waits until all ranks have come here.
  void barrier();

  /// This rank ends because of that. The others' exchanges fail with the same text, and this rank's
  /// name in front of it. The first failure of the world stays.
  void fail(const std::string& reason) noexcept;

  /// Whether some rank has ended because of a failure, or the store is gone: for one who waits for
  /// something else than an exchange. Asks the store, which takes a while. Any thread.
  bool has_failed() noexcept;

  /// This process wants all to end, for a reason from 1 to kStopReasons; they agree on it in the next
  /// step. Among several reasons the lowest counts.
  static constexpr int kStopReasons = 6;
  /// Asks for that.
  void ask_to_stop(int reason);
  int asked_to_stop() const;  ///< by this process; 0: it has not
  /// Notes the reason that all have agreed on.
  void agree_to_stop(int reason);
  int agreed_to_stop() const;  ///< by all, after the same step; 0: they have not

  /// What was sent so far, and waited for.
  WorldTraffic traffic() const;
  /// Counts time that was spent waiting for swaps.
  void count_waiting(double seconds);

 private:
  struct State;
  class Transfers;
  explicit World(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace pagoda
