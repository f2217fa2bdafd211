#include "train/tower_meetings.h"

#include <utility>
#include <vector>

#include "tower/parameter_copies.h"

namespace pagoda {

TowerMeetings::TowerMeetings(TowerGroup& towers, std::shared_ptr<StepParts> parts,
                             RunShares run_shares)
    : towers_(towers), parts_(std::move(parts)), run_shares_(std::move(run_shares)) {}

void TowerMeetings::after_step(double weight) {
  if (!are_held()) return;
  meeting()->count_step(weight);
  if (meeting()->is_time_to_begin()) begin();
  if (meeting()->is_time_to_end()) end();
}

void TowerMeetings::begin() {
  parts_->replicas->master();  // with all that the towers have updated
  meeting()->begin();
  towers_.run(parts_->phase("exchange"), [parts = parts_, run_shares = run_shares_](TowerJob& job) {
    job.enter("exchange");
    run_shares(job, [parts](int share, int shares) {
      parts->world->meeting()->pack_share(share, shares);
    });
  });
}

void TowerMeetings::end() {
  parts_->replicas->master();
  meeting()->end();
  towers_.run(parts_->phase("renew"), [parts = parts_](TowerJob& job) {
    job.enter("renew");
    parts->replicas->copies().renew(job.tower);
  });
  std::vector<double> first(static_cast<std::size_t>(towers_.size()));  // all towers have the same
  first.front() = 1;
  std::vector<BufferValue> buffers = parts_->buffers.values(first);
  for (BufferValue& one : buffers) one.changed = true;
  parts_->world->share_buffers(buffers, 1);
  parts_->buffers.take(buffers);
}

void TowerMeetings::finish() {
  if (!are_held() || !meeting()->is_apart()) return;
  if (meeting()->is_under_way()) end();
  if (meeting()->has_moved()) {
    begin();
    end();
  }
  UpdaterState state = parts_->updater->state();
  std::vector<at::Tensor> values = state.averages;
  for (const auto& [name, tensor] : state.optimizer) values.push_back(tensor);
  meeting()->average(values);
  parts_->updater->load(state);
  if (parts_->loss_scaler) parts_->loss_scaler->take_first(*parts_->options.world);
}

}  // namespace pagoda
