#pragma once

#include <pagoda/tower/replicas.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "reduce/gradient_hooks.h"
#include "train/world_sum.h"

namespace pagoda {

/// Sends buckets of gradients to the other processes while backward still runs, as soon as every
/// tower of this one has finished what is in them.
///
/// Threads: last_backward, and what LibTorch calls when a gradient is ready, in the towers' threads;
/// the rest on the coordinating thread while no tower runs.
class EarlyGradients {
 public:
  EarlyGradients(std::shared_ptr<const Replicas> replicas, WorldSum& sum);

  /// What a step begins with.
  struct Plan {
    std::vector<char> towers;      ///< which have feeds
    std::vector<char> parameters;  ///< which can have gradients
    std::vector<char> buckets;     ///< which may leave early
    double weight = 0;             ///< what this process's gradients count
  };
  void begin(Plan plan);

  /// The tower's next backward is its last in this step.
  void last_backward(int tower);

  /// After the towers have computed.
  bool has_left(std::size_t bucket) const { return left_[bucket] != 0; }

  /// Whether no tower's last backward has finished the parameter's gradient more than once, as it does
  /// where backward runs inside of backward: then nobody knows when it is complete.
  bool finished_once(std::size_t parameter) const;

  /// Drops what is held of the gradients.
  void end();

 private:
  void note_ready(int tower, std::size_t parameter);
  void pack(std::size_t bucket) const;

  // Constant after construction.
  const std::shared_ptr<const Replicas> replicas_;
  WorldSum& sum_;
  std::vector<std::vector<std::size_t>> buckets_of_;  // by parameter

  Plan plan_;               // constant while towers run
  std::vector<char> last_;  // by tower: whether its last backward runs; each in its tower's thread
  std::mutex mutex_;        // for what follows
  std::vector<std::vector<int>> times_;             // by tower and parameter: finished
  std::vector<std::vector<at::Tensor>> gradients_;  // by parameter and tower
  std::vector<std::size_t> missing_;                // by bucket
  std::vector<char> left_;                          // by bucket
  std::unique_ptr<GradientHooks> hooks_;
};

}  // namespace pagoda
