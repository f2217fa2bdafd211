#include "reduce/host_exchange.h"

#include <utility>

namespace pagoda {

HostExchange::HostExchange(std::shared_ptr<const Replicas> replicas, TowerClipping clipping)
    : replicas_(std::move(replicas)), clipping_(std::move(clipping)), gradients_(replicas_) {
  if (!clipping_.max_norm) return;
  norms_.assign(static_cast<std::size_t>(replicas_->size()),
                GradientNorm(replicas_->master().trainable));
}

void HostExchange::set_values(int tower, const std::vector<NamedTensor>& values) {
  if (!norms_.empty()) norms_[static_cast<std::size_t>(tower)] = GradientNorm(values);
}

Clipped HostExchange::collect(int tower, double mean_scale) {
  gradients_.collect(tower);
  if (norms_.empty() || mean_scale == 0) return {};
  GradientNorm& norm = norms_[static_cast<std::size_t>(tower)];
  norm.run_share(gradients_.view({mean_scale}, {tower}), clipping_.l2, 0, 1);
  return clipped(norm.norm(), clipping_.max_norm);
}

}  // namespace pagoda
