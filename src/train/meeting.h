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
/// momentum·v).
///
/// Threads: `pack_share` on any; the rest on the coordinating thread while no tower runs.
/// Owns: the parameters of the last meeting, and the momentum. Borrows the parameters and the sum.
/// Fails: WorldError when another process is gone or has failed.
class Meeting {
 public:
  Meeting(const LocalSteps& options, const std::vector<NamedTensor>& parameters,
          std::shared_ptr<World> world, WorldSum& sum);

  /// A step of that weight was done without the others; whether it is time to meet them.
  bool count_step(double weight);

  /// Whether any was, since the last meeting.
  bool has_moved() const { return steps_ > 0; }

  /// Packs and sends how far this process has moved: a share of it.
  void pack_share(int share, int shares);

  /// After all shares: waits for the others' moves, makes the outer step, and agrees on whether to
  /// stop.
  void meet();

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
  int steps_ = 0;                     // since the last meeting
  double weight_ = 0;                 // of them
  double others_weight_ = 0;          // of the others', up to the last meeting
  std::vector<at::Tensor> last_;      // by parameter: after the last meeting
  std::vector<at::Tensor> momentum_;  // the same
};

}  // namespace pagoda
