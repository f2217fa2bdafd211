#pragma once

#include <pagoda/tower/tower_group.h>

#include <memory>

#include "train/run_shares.h"
#include "train/step_parts.h"

namespace pagoda {

/// The towers' part in a Meeting: they pack what they have moved, and take over what the processes
/// have agreed on. Does nothing where processes exchange gradients in every step, or there are none.
///
/// Threads: the coordinating thread, while no tower runs. Borrows the towers.
/// Fails: as Meeting.
class TowerMeetings {
 public:
  TowerMeetings(TowerGroup& towers, std::shared_ptr<StepParts> parts, RunShares run_shares);

  /// Whether steps are the process's own, and meetings all that it has of the others.
  bool are_held() const { return meeting() != nullptr; }

  /// A step of that weight was done: begins and ends a meeting where it is time.
  void after_step(double weight);

  /// Makes parameters, buffers and the optimizers' states of all processes equal.
  void finish();

 private:
  Meeting* meeting() const { return parts_->world ? parts_->world->meeting() : nullptr; }
  void begin();
  void end();

  TowerGroup& towers_;
  const std::shared_ptr<StepParts> parts_;
  const RunShares run_shares_;
};

}  // namespace pagoda
