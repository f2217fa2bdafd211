#pragma once

#include <pagoda/params/parameter_table.h>
#include <pagoda/train/step_options.h>

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
/// Owns: the parameters of the last meeting, and the momentum. Borrows the parameters.
class Meeting {
 public:
  Meeting(const LocalSteps& options, const std::vector<NamedTensor>& parameters, WorldSum& sum,
          int processes);

  /// Packs and sends how far this process has moved: a share of it.
  void pack_share(int share, int shares);

  /// Waits for the others' moves, and makes the outer step.
  void take();

  /// The parameters were loaded: the next move begins there.
  void begin_here();

  /// "momentum/conv1.weight", …, to be saved, and to be loaded.
  std::vector<NamedTensor> state() const;

 private:
  const LocalSteps options_;
  const std::vector<NamedTensor> parameters_;
  WorldSum& sum_;
  const int processes_;
  std::vector<at::Tensor> last_;      // by parameter: after the last meeting
  std::vector<at::Tensor> momentum_;  // the same
};

}  // namespace pagoda
