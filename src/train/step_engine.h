#pragma once

#include <pagoda/train/step_feeds.h>
#include <pagoda/train/step_result.h>

#include <memory>
#include <utility>
#include <vector>

#include "train/step_parts.h"

namespace pagoda {

/// A way to step, without the types of model and feeds.
///
/// Threads: the coordinating thread.
class StepEngine {
 public:
  virtual ~StepEngine() = default;

  /// Computes these feeds on the towers and updates the parameters by them.
  virtual StepResult run(std::vector<detail::FeedInfo> feeds, detail::Compute compute) = 0;

  /// Waits for what is still under way, so that all towers are equal.
  virtual void finish() {}

  /// Whether what a checkpoint needs lies at several processes, which then take it together.
  bool shares_state() const { return parts_->world && parts_->world->keeps_state(); }

  /// What an exchange with other processes keeps, complete at rank 0; see WorldStep::state. All of
  /// them call it together. Empty without any.
  std::vector<NamedTensor> exchange_state();
  void load_exchange(const std::vector<NamedTensor>& state);

  /// Spreads what was loaded into the master parameters and into tower 0's buffers to all towers.
  void refresh_towers();

  /// Shared with the towers' threads, which may be late.
  const std::shared_ptr<StepParts>& parts() const { return parts_; }

 protected:
  StepEngine(TowerGroup& towers, std::shared_ptr<StepParts> parts)
      : towers_(towers), parts_(std::move(parts)) {}

  TowerGroup& towers() const { return towers_; }

 private:
  TowerGroup& towers_;
  const std::shared_ptr<StepParts> parts_;
};

}  // namespace pagoda
