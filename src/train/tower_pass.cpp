#include "train/tower_pass.h"

#include <algorithm>
#include <cmath>

namespace pagoda {
namespace {

std::string sample_list(const std::vector<std::int64_t>& samples) {
  constexpr std::size_t kShown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, samples.size()); ++i) {
    list += (i == 0 ? "" : ", ") + std::to_string(samples[i]);
  }
  if (samples.size() > kShown) list += ", … (" + std::to_string(samples.size()) + " in all)";
  return list.empty() ? "unknown" : list;
}

}  // namespace

bool TowerPass::is_finite() const {
  return std::isfinite(grad_norm) &&
         std::all_of(scores.begin(), scores.end(),
                     [](const FeedScore& score) { return std::isfinite(score.loss); });
}

std::optional<std::string> non_finite_loss(const TowerPass& pass,
                                           const std::vector<detail::FeedInfo>& feeds,
                                           std::size_t first, std::size_t stride) {
  std::size_t done = 0;
  for (std::size_t feed = first; feed < feeds.size(); feed += stride) {
    if (feeds[feed].weight == 0) continue;
    const double loss = pass.scores[done++].loss;
    if (std::isfinite(loss)) continue;
    return "the loss is " + std::to_string(loss) + " for samples " +
           sample_list(feeds[feed].samples) +
           "; nothing was updated; lower the learning rate, clip gradients, or check these samples";
  }
  return std::nullopt;
}

}  // namespace pagoda
