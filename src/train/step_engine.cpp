#include "train/step_engine.h"

#include "tower/parameter_copies.h"

namespace pagoda {

void StepEngine::refresh_towers() {
  towers_.run(
      {.name = "renew", .step = parts_->count},
      [replicas = parts_->replicas](TowerJob& job) { replicas->copies().renew(job.tower); });
  parts_->buffers.adopt_first();
}

}  // namespace pagoda
