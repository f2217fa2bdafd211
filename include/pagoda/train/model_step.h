#pragma once

#include <pagoda/tower/towers.h>
#include <pagoda/train/step.h>

#include <memory>
#include <utility>
#include <vector>

namespace pagoda {

/// A step whose towers each compute the whole model: a SyncStep or an AsyncStep, for code that takes
/// either.
template <class Model>
class ModelStep : public Step {
 public:
  /// `loss(model, feed)` returns the feed's mean loss as a tensor, or a Scored with further
  /// metrics. It is called by all towers at once.
  template <Feed F, class Loss>
  StepResult run(const std::vector<F>& feeds, Loss loss) {
    // By value: a tower that is late outlives this call.
    auto forward = [replicas = towers_.typed_replicas(), feeds, loss = std::move(loss)](
                       std::size_t index, TowerJob& job) mutable {
      job.enter("feed");
      const F feed = replicas.on_tower(feeds[index], job.tower);
      job.enter("forward");
      return detail::as_scored(loss(replicas.model(job.tower), feed));
    };
    return run_feeds(detail::infos_of(feeds), std::move(forward));
  }

 protected:
  ModelStep(Towers<Model>& towers, std::shared_ptr<StepEngine> engine)
      : Step(std::move(engine)), towers_(towers) {}

 private:
  Towers<Model>& towers_;
};

}  // namespace pagoda
