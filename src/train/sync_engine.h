#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "train/step_engine.h"
#include "train/tower_pass.h"

namespace pagoda {

/// Runs the tower's part of work(share, shares), which all towers divide among them.
using RunShares =
    std::function<void(const TowerJob& job, const std::function<void(int share, int shares)>&)>;

/// One share for each tower.
RunShares one_share_a_tower(int towers);

/// All towers compute, then the parameters are updated once; see SyncStep.
class SyncEngine final : public StepEngine {
 public:
  SyncEngine(TowerGroup& towers, std::shared_ptr<StepParts> parts, RunShares run_shares);

  StepResult run(std::vector<detail::FeedInfo> feeds, detail::Compute compute) override;
  void finish() override;

 private:
  struct Work;

  TowerPhase phase(const char* name) const;
  void guarded(const TowerPhase& phase, std::function<void(TowerJob&)> work);
  void give_up();
  StepResult summarise(const Work& work) const;
  StepResult step(std::vector<detail::FeedInfo> feeds, detail::Compute compute, double weight);
  /// Null where gradients are exchanged in every step, or there are no other processes.
  Meeting* meeting() const { return parts()->world ? parts()->world->meeting() : nullptr; }
  void meet_in_time(double weight);
  void begin_meeting();
  void end_meeting();
  NotFinite combine(const std::shared_ptr<Work>& work, StepResult& result);
  NotFinite update(const std::shared_ptr<Work>& work, StepResult& result);
  void leave_out(const Work& work, NotFinite found, StepResult& result);
  double gradient_norm(const std::shared_ptr<Work>& work);
  void report_non_finite(const Work& work) const;

  const RunShares run_shares_;
};

}  // namespace pagoda
