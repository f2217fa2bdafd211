#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "train/run_shares.h"
#include "train/step_engine.h"
#include "train/tower_meetings.h"
#include "train/tower_pass.h"

namespace pagoda {

/// All towers compute, then the parameters are updated once; see SyncStep.
class SyncEngine final : public StepEngine {
 public:
  SyncEngine(TowerGroup& towers, const std::shared_ptr<StepParts>& parts,
             const RunShares& run_shares);

  StepResult run(std::vector<detail::FeedInfo> feeds, detail::Compute compute) override;
  void finish() override;

 private:
  struct Work;

  void guarded(const TowerPhase& phase, std::function<void(TowerJob&)> work);
  void give_up();
  StepResult summarise(const Work& work) const;
  StepResult step(std::vector<detail::FeedInfo> feeds, detail::Compute compute, double weight);
  /// With other processes, in every step.
  bool exchanges_gradients() const { return parts()->world && !meetings_.are_held(); }
  NotFinite combine(const std::shared_ptr<Work>& work, StepResult& result);
  NotFinite update(const std::shared_ptr<Work>& work, StepResult& result);
  void leave_out(const Work& work, NotFinite found, StepResult& result);
  double gradient_norm(const std::shared_ptr<Work>& work);
  void report_non_finite(const Work& work) const;

  const RunShares run_shares_;
  TowerMeetings meetings_;
};

}  // namespace pagoda
