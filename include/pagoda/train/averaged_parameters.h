#pragma once

#include <pagoda/tower/tower_group.h>
#include <pagoda/train/step.h>

#include <vector>

namespace pagoda {

/// While it lives, the towers compute with the moving average of the parameters instead of the
/// parameters; afterwards these are back, bit for bit (but after a tower was late, which may still
/// compute). Without a moving average it changes nothing.
///
/// Threads: the coordinating thread; what the step has under way is finished first. Meanwhile a step,
/// a snapshot or a restore is a UsageError.
/// Example: `{ AveragedParameters averaged(towers, step); accuracy = evaluate(…); }`
class AveragedParameters {
 public:
  AveragedParameters(TowerGroup& towers, Step& step);
  ~AveragedParameters();
  AveragedParameters(const AveragedParameters&) = delete;
  AveragedParameters& operator=(const AveragedParameters&) = delete;

 private:
  void write(const std::vector<at::Tensor>& values);

  TowerGroup& towers_;
  std::vector<at::Tensor> parameters_;  // their values meanwhile
};

}  // namespace pagoda
