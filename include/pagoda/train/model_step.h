#pragma once

#include <pagoda/tower/towers.h>
#include <pagoda/train/bring_ahead.h>
#include <pagoda/train/step.h>

#include <memory>
#include <utility>
#include <vector>

namespace pagoda {

/// A step in which each tower computes the whole model: a SyncStep or an AsyncStep, for code that
/// takes either.
template <class Model>
class ModelStep : public Step {
 public:
  /// `loss(model, feed)` returns the feed's mean loss as a tensor, or a Scored with further
  /// metrics. All towers call it at once.
  template <Feed F, class Loss>
  StepResult run(const std::vector<F>& feeds, Loss loss) {
    return run_with(detail::infos_of(feeds), feeds, std::move(loss));
  }

  /// The same for the feeds of a stream. A stream knows the smallest feed of an epoch, so a feed
  /// that BatchNorm could not normalise is refused in the first step. While this step runs, the
  /// next step's feeds are copied to the cards.
  template <Feed F, class Loss>
  StepResult run(const StepFeeds<F>& feeds, Loss loss) {
    detail::bring_ahead(feeds, towers_);
    return run_with<F>(detail::infos_of(feeds), feeds, std::move(loss));
  }

 protected:
  ModelStep(Towers<Model>& towers, std::shared_ptr<StepEngine> engine)
      : Step(std::move(engine)), towers_(towers) {}

 private:
  template <class F, class Loss>
  StepResult run_with(std::vector<detail::FeedInfo> infos, const std::vector<F>& feeds, Loss loss) {
    // By value: a tower that misses its deadline outlives this call.
    auto forward = [replicas = towers_.typed_replicas(), feeds, loss = std::move(loss)](
                       std::size_t index, TowerJob& job) mutable {
      job.enter("feed");
      const F feed = replicas.on_tower(feeds[index], job.tower);
      job.enter("forward");
      return detail::as_scored(loss(replicas.model(job.tower), feed));
    };
    return run_feeds(std::move(infos), std::move(forward));
  }

  Towers<Model>& towers_;
};

}  // namespace pagoda
