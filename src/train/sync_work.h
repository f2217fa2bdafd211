#pragma once

#include <pagoda/train/sync_step.h>

#include <algorithm>
#include <vector>

#include "train/tower_pass.h"

namespace pagoda {

/// What the towers read and write during one step; shared with them, so that one that is late finds
/// it.
struct SyncStepBase::Work {
  std::vector<FeedInfo> feeds;
  double total_weight;
  Compute compute;
  std::vector<TowerPass> passes;  // by tower
  GradientView gradients = {};
  std::vector<double> l2 = {};  // by parameter, after the towers' clipping

  bool is_finite() const {
    return std::all_of(passes.begin(), passes.end(),
                       [](const TowerPass& pass) { return pass.is_finite(); });
  }
};

}  // namespace pagoda
