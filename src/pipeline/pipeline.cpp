#include <pagoda/pipeline/pipeline.h>
#include <pagoda/sim/sim_cards.h>

#include <utility>

#include "pipeline/pipeline_run.h"

namespace pagoda {

StageError::StageError(int tower, int stage, int micro_batch, const std::string& device,
                       const char* phase, std::int64_t step, std::exception_ptr cause)
    : TowerError(tower, device,
                 "stage " + std::to_string(stage) + ", " + phase + " of micro-batch " +
                     std::to_string(micro_batch),
                 step, std::move(cause)),
      stage_(stage),
      micro_batch_(micro_batch) {}

Pipeline::Pipeline(std::shared_ptr<const Replicas> replicas, std::shared_ptr<Stages> stages,
                   const PipelineOptions& options)
    : replicas_(std::move(replicas)),
      stages_(std::move(stages)),
      options_(options),
      runs_(static_cast<std::size_t>(replicas_->size())) {}

std::vector<FeedScore> Pipeline::run(int tower, PipelineWork work) {
  const TowerOptions& towers = replicas_->options();
  work.precision = towers.precision;
  const RandomStreams streams(
      RandomStreams(towers.seed).tower_step(towers.first_tower + tower, work.step));
  const auto run =
      std::make_shared<PipelineRun>(stages_->replica(tower), std::move(work), options_, streams);
  {
    std::lock_guard lock(mutex_);
    runs_[static_cast<std::size_t>(tower)] = run;
  }
  stages_->run(tower, [run](int stage) { run->run_stage(stage); });
  {
    std::lock_guard lock(mutex_);
    runs_[static_cast<std::size_t>(tower)] = nullptr;
  }
  return run->finish();
}

void Pipeline::note_step(std::int64_t step) const {
  for (int tower = 0; tower < stages_->towers(); ++tower) {
    for (int stage = 1; stage < stages_->count(); ++stage) {
      const Device& device = stages_->device(tower, stage);
      if (device.kind == DeviceKind::sim) note_sim_card_step(device.index, step);
    }
  }
}

void Pipeline::explain(const TowerGroup& towers) {
  try {
    throw;
  } catch (const TowerError& error) {
    try {
      std::rethrow_exception(error.cause());
    } catch (const StageFailure& failure) {
      const StageError with_stage(error.tower(), failure.stage, failure.micro_batch,
                                  stages_->device(error.tower(), failure.stage).label(),
                                  failure.phase, error.step(), failure.cause);
      try {
        std::rethrow_exception(failure.cause);
      } catch (const UsageError&) {
        throw UsageError(with_stage.what());
      } catch (...) {
        throw with_stage;
      }
    } catch (...) {
      throw error;
    }
  } catch (const DeviceError& error) {
    if (towers.usable()) throw;
    std::string late;
    std::lock_guard lock(mutex_);
    for (std::size_t tower = 0; tower < runs_.size(); ++tower) {
      if (!runs_[tower]) continue;
      for (const int stage : runs_[tower]->late_stages()) {
        late += "; tower " + std::to_string(tower) + ", stage " + std::to_string(stage) + " (" +
                stages_->device(static_cast<int>(tower), stage).label() + ") was at work";
      }
      runs_[tower]->stop();
    }
    throw DeviceError(error.what() + late);
  }
}

}  // namespace pagoda
