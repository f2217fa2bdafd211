#include "train/step_engine.h"

#include "tower/parameter_copies.h"

namespace pagoda {

void StepEngine::refresh_towers() {
  towers_.run(
      {.name = "renew", .step = parts_->count},
      [replicas = parts_->replicas](TowerJob& job) { replicas->copies().renew(job.tower); });
  parts_->buffers.adopt_first();
  if (parts_->world && parts_->world->meeting() != nullptr) parts_->world->meeting()->begin_here();
}

std::vector<NamedTensor> StepEngine::exchange_state() {
  return parts_->world ? parts_->world->state() : std::vector<NamedTensor>();
}

void StepEngine::load_exchange(const std::vector<NamedTensor>& state) {
  if (parts_->world) parts_->world->load(state);
}

}  // namespace pagoda
