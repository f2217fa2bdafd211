#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "train/async_parameters.h"

namespace pagoda {

/// What asynchronous towers and the coordinating thread tell each other: who is free, which updates
/// were made, and that somebody has failed.
///
/// Threads: any.
/// Fails: DeviceError when nobody answers within the timeout.
class AsyncBoard {
 public:
  /// An update that was made, or left out because it was not finite.
  struct Done {
    int tower;
    Evaluation scores;
    AsyncParameters::Outcome outcome;
  };

  explicit AsyncBoard(int towers) { clear(towers); }

  /// Waits for a tower that is free, and takes it.
  int take_tower(std::chrono::milliseconds timeout);

  /// The tower has ended its work. One that has failed is taken next, so that its error is found.
  void give_back(int tower, bool failed);

  void add(Done done);

  /// Waits for at least one update that nobody has taken yet, or a failure, and takes all.
  std::vector<Done> take_done(std::chrono::milliseconds timeout);

  /// Whether a tower has failed since the board was cleared.
  bool failed() const;

  /// All towers are free, and nothing was done.
  void clear(int towers);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<int> free_;
  std::vector<Done> done_;
  bool failed_ = false;
};

}  // namespace pagoda
