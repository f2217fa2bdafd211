#pragma once

#include <pagoda/tower/tower_group.h>
#include <pagoda/train/step.h>

#include <vector>

namespace pagoda {

/// While it lives, the towers compute with the moving average of the parameters instead of the
/// parameters themselves. The destructor restores the parameters bit for bit, unless a tower has
/// missed its deadline (it may still be computing) or a card was lost. Without a moving average it
/// changes nothing.
///
/// Threads: the coordinating thread. The constructor first finishes what the step has under way.
/// Borrows: the towers.
/// Fails: while it lives, a step, a snapshot, a restore and `load` throw a UsageError.
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
  std::vector<at::Tensor> parameters_;  // the parameters' own values meanwhile
};

}  // namespace pagoda
