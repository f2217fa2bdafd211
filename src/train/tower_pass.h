#pragma once

#include <pagoda/train/sync_step.h>

#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// What one tower brings back from forward and backward of its feeds, besides the gradients.
struct TowerPass {
  double weight = 0;
  std::vector<FeedScore> scores = {};  // by feed, in the tower's order
  double grad_norm = 0;                // of its own gradient, where that is clipped
  double clip = 1;                     // what the tower's own clipping leaves

  bool is_finite() const;
};

/// Which of the feeds' losses is not finite, for a message; nothing when all are. The pass has the
/// feeds first, first + stride, ….
std::optional<std::string> non_finite_loss(const TowerPass& pass,
                                           const std::vector<detail::FeedInfo>& feeds,
                                           std::size_t first, std::size_t stride);

}  // namespace pagoda
