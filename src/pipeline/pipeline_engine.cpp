#include <pagoda/base/error.h>
#include <pagoda/pipeline/pipeline_step.h>

#include <utility>

#include "train/sync_engine.h"

namespace pagoda {
namespace {

/// All stages of a tower take part.
RunShares one_share_a_stage(const std::shared_ptr<Stages>& stages) {
  return [stages](const TowerJob& job, const std::function<void(int, int)>& work) {
    const int count = stages->count();
    stages->run(job.tower, [work, first = job.tower * count, shares = count * stages->towers()](
                               int stage) { work(first + stage, shares); });
  };
}

/// A synchronous step whose towers are pipelines; see PipelineStep.
class PipelineEngine final : public StepEngine {
 public:
  PipelineEngine(TowerGroup& towers, const std::shared_ptr<StepParts>& parts,
                 std::shared_ptr<Pipeline> pipeline)
      : StepEngine(towers, parts),
        pipeline_(std::move(pipeline)),
        sync_(towers, parts, one_share_a_stage(pipeline_->stages())) {}

  StepResult run(std::vector<detail::FeedInfo> feeds, detail::Compute compute) override {
    pipeline_->note_step(parts()->count);
    try {
      return sync_.run(std::move(feeds), std::move(compute));
    } catch (const Error&) {
      pipeline_->explain(towers());
    }
  }

  void finish() override { sync_.finish(); }

 private:
  const std::shared_ptr<Pipeline> pipeline_;
  SyncEngine sync_;
};

}  // namespace

namespace detail {

std::shared_ptr<StepEngine> make_pipeline_engine(TowerGroup& towers, const AnyOptimizer& optimizer,
                                                 const StepOptions& options,
                                                 std::shared_ptr<Pipeline> pipeline) {
  if (towers.replicas()->batch_norm()) {
    throw UsageError(
        "the stages of a pipeline normalise each micro-batch by itself; switch "
        "TowerOptions::sync_batch_norm off");
  }
  return std::make_shared<PipelineEngine>(towers, make_parts(towers, optimizer, options),
                                          std::move(pipeline));
}

}  // namespace detail
}  // namespace pagoda
