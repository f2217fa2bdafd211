#pragma once

#include <pagoda/params/parameter_table.h>
#include <pagoda/train/step_options.h>

#include <memory>
#include <utility>
#include <vector>

#include "train/world_sum.h"

namespace pagoda {

/// Where processes come together that train on their own in between: local SGD with an outer
/// optimizer, as in DiLoCo (arXiv 2311.08105).
///
/// Each process has moved its parameters from where they were after the last meeting. The mean of the
/// moves over all processes is the gradient of a step with Nesterov momentum, which all of them make
/// from there: v = momentum·v + mean, parameters = those of the last meeting - rate·(mean +
/// momentum·v). Where training goes on while the moves travel, what it has changed since they were
/// packed is added to that.
///
/// Threads: `pack_share` on any; the rest on the coordinating thread while no tower runs.
/// Owns: the parameters of the last meeting, the momentum, and with an overlap the parameters as they were
/// when their moves were sent. Borrows the parameters and the sum.
/// Fails: WorldError when another process is gone or has failed.
class Meeting {
 public:
  Meeting(const LocalSteps& options, const std::vector<NamedTensor>& parameters,
          std::shared_ptr<World> world, WorldSum& sum);
  /// Lets the others have what is under way.
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  /// A step of that weight was done without the others.
  void count_step(double weight);

  /// Whether it is time to `begin` the next meeting, and to `end` the one that has begun.
  bool is_time_to_begin() const { return steps_ == options_.every; }
  bool is_time_to_end() const { return under_way_ && steps_ >= options_.overlap; }
  /// Whether moves are under way.
  bool is_under_way() const { return under_way_; }
  /// Whether any step was done that the others have not been told of.
  bool has_moved() const { return steps_ > 0; }
  /// Whether any was done since `average`.
  bool is_apart() const { return apart_; }

  /// Sends how far this process has moved: `begin`, then `pack_share` of all shares.
  void begin();
  void pack_share(int share, int shares);

  /// Waits for the others' moves, makes the outer step, and agrees on whether to stop.
  void end();

  /// Makes the values the mean over all processes; those that are no floating-point numbers rank 0's.
  void average(const std::vector<at::Tensor>& values);

  /// The weight of what the others have done, up to the last meeting and since it was asked last.
  double take_others_weight() { return std::exchange(others_weight_, 0); }

  /// The parameters were loaded: the next move begins there.
  void begin_here();

  /// "momentum/conv1.weight", …, in the memory that it is kept in: to be saved, and to be loaded.
  std::vector<NamedTensor> state() const;

 private:
  const LocalSteps options_;
  const std::vector<NamedTensor> parameters_;
  const std::shared_ptr<World> world_;
  WorldSum& sum_;
  int steps_ = 0;                     // since moves were last sent
  double weight_ = 0;                 // of them
  bool apart_ = false;                // see is_apart
  bool under_way_ = false;            // moves travel
  double sent_weight_ = 0;            // of the steps that made them
  std::vector<at::Tensor> sent_;      // by parameter, as it was then; none without an overlap
  double others_weight_ = 0;          // of the others', up to the last meeting
  std::vector<at::Tensor> last_;      // by parameter: after the last meeting
  std::vector<at::Tensor> momentum_;  // the same
};

}  // namespace pagoda
