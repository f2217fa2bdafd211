#pragma once

#include <pagoda/train/step_feeds.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reduce/gradient_norm.h"
#include "train/step_parts.h"

namespace pagoda {

/// What one tower brings back from forward and backward of its feeds, besides the gradients.
struct TowerPass {
  std::vector<std::size_t> feeds = {};  // those that it computed, without empty ones
  std::vector<FeedScore> scores = {};   // of each of them
  double weight = 0;                    // of them together
  Clipped clip = {};                    // the tower's own
  double scale = 1;                     // that its gradients are multiplied by

  NotFinite not_finite() const;
};

/// Forward and backward of the tower's feeds, and its gradients collected. `group` says which feeds
/// these are: those of the tower of that number. They count by their part of `total_weight`.
/// Threads: the job's tower.
TowerPass compute_tower(StepParts& parts, const std::vector<detail::FeedInfo>& feeds,
                        const detail::Compute& compute, int group, double total_weight,
                        TowerJob& job);

/// What traces call all that a tower does for its feeds; the parts are blocks in it.
inline constexpr const char* kComputeBlock = "compute";

/// One feed after the other: forward, then backward.
detail::Compute one_by_one(std::shared_ptr<StepParts> parts, detail::Forward forward);

/// What to say of a pass that is not finite: the first loss that is not, or else the gradient.
std::string non_finite_text(const TowerPass& pass, const std::vector<detail::FeedInfo>& feeds);

/// The same where only the norm of the gradient is not.
inline constexpr const char* kNonFiniteNorm =
    "the norm of the gradient is not finite; nothing was updated; lower the learning rate or clip "
    "gradients";

}  // namespace pagoda
