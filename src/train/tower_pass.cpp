#include "train/tower_pass.h"

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/ops/full_like.h>
#include <ATen/record_function.h>

#include "tower/batch_norm_exchange.h"

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

/// While it lives, the parameters that rules freeze require no gradient in the tower's replica.
class FrozenParameters {
 public:
  FrozenParameters(const StepParts& parts, int tower) {
    const auto& parameters = parts.replicas->table(tower).trainable;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!parts.settings()[i].frozen || !parameters[i].tensor.requires_grad()) continue;
      frozen_.push_back(parameters[i].tensor);
      frozen_.back().set_requires_grad(false);
    }
  }
  ~FrozenParameters() {
    for (const at::Tensor& parameter : frozen_) parameter.set_requires_grad(true);
  }
  FrozenParameters(const FrozenParameters&) = delete;
  FrozenParameters& operator=(const FrozenParameters&) = delete;

 private:
  std::vector<at::Tensor> frozen_;
};

/// Says what to do about a feed that BatchNorm cannot normalise.
template <class Work>
Scored explained(Work work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    if (text.find("Expected more than 1 value per channel when training") == std::string::npos)
      throw;
    throw UsageError(
        "a feed of one sample cannot be normalised by BatchNorm in training; set "
        "BatchesOptions::drop_last, or choose a batch size that leaves more for each tower in the "
        "last step of an epoch (" +
        text + ")");
  }
}

Scored forward_of(const StepParts& parts, const detail::Forward& forward, std::size_t feed,
                  TowerJob& job) {
  RECORD_USER_SCOPE("forward");
  const PrecisionScope precision(parts.replicas->options().precision,
                                 parts.replicas->device(job.tower));
  Scored scored = explained([&] { return forward(feed, job); });
  check_loss(scored);
  scored.loss = widened(scored.loss);
  if (!parts.settings().empty()) check_graph(scored.loss);  // a model may have nothing to train
  return scored;
}

}  // namespace

std::vector<std::size_t> feeds_of(int tower, int towers, std::size_t feeds) {
  std::vector<std::size_t> own;
  for (auto feed = static_cast<std::size_t>(tower); feed < feeds;
       feed += static_cast<std::size_t>(towers))
    own.push_back(feed);
  return own;
}

NotFinite TowerPass::not_finite() const {
  const bool losses = std::all_of(scores.begin(), scores.end(),
                                  [](const FeedScore& score) { return std::isfinite(score.loss); });
  if (!losses) return NotFinite::loss;
  return std::isfinite(clip.norm) ? NotFinite::nothing : NotFinite::gradient;
}

TowerPass compute_tower(StepParts& parts, const std::vector<detail::FeedInfo>& feeds,
                        const detail::Compute& compute, int group, double total_weight,
                        TowerJob& job) {
  TowerPass pass{.scale = parts.scale()};
  parts.exchange->begin(job.tower);
  std::vector<detail::FeedShare> shares;
  for (const std::size_t feed : feeds_of(group, parts.replicas->size(), feeds.size())) {
    if (feeds[feed].weight == 0) continue;
    // The feed's share of the whole batch goes into its backward, so that combining is a plain sum.
    shares.push_back({feed, feeds[feed].weight / total_weight * pass.scale});
    pass.feeds.push_back(feed);
    pass.weight += feeds[feed].weight;
  }
  if (!shares.empty()) {
    const FrozenParameters frozen(parts, job.tower);
    BatchNormTurn turn(parts.replicas->batch_norm(), job.tower,
                       feeds[shares.front().feed].smallest_feed);
    pass.scores = compute(shares, job);
  }
  job.enter("collect");
  RECORD_USER_SCOPE("collect");
  const double mean_scale = pass.weight > 0 ? total_weight / pass.weight / pass.scale : 0;
  pass.clip = parts.exchange->collect(job.tower, mean_scale, parts.scaled_l2(1));
  parts.buffers.note_changes(job.tower);
  return pass;
}

detail::Compute one_by_one(std::shared_ptr<StepParts> parts, detail::Forward forward) {
  return [parts = std::move(parts), forward = std::move(forward)](
             const std::vector<detail::FeedShare>& feeds, TowerJob& job) {
    std::vector<FeedScore> scores;
    for (const auto& [feed, share] : feeds) {
      BatchNormTurn::here()->next_feed();
      const Scored scored = forward_of(*parts, forward, feed, job);
      job.enter("backward");
      RECORD_USER_SCOPE("backward");
      if (feed == feeds.back().feed) parts->last_backward(job.tower);
      if (scored.loss.requires_grad()) scored.loss.backward(at::full_like(scored.loss, share));
      scores.push_back(numbers_of(scored));
    }
    return scores;
  };
}

std::string non_finite_text(const TowerPass& pass, const std::vector<detail::FeedInfo>& feeds) {
  for (std::size_t i = 0; i < pass.scores.size(); ++i) {
    const double loss = pass.scores[i].loss;
    if (std::isfinite(loss)) continue;
    return "the loss is " + number_text(loss) + " for samples " +
           sample_list(feeds[pass.feeds[i]].samples) +
           "; nothing was updated; lower the learning rate, clip gradients, or check these samples";
  }
  return kNonFiniteNorm;
}

}  // namespace pagoda
