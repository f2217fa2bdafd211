#include "reduce/host_exchange.h"

#include <utility>

namespace pagoda {

HostExchange::HostExchange(std::shared_ptr<const Replicas> replicas,
                           std::optional<double> max_tower_norm)
    : replicas_(std::move(replicas)), max_tower_norm_(max_tower_norm), gradients_(replicas_) {
  if (!max_tower_norm_) return;
  norms_.assign(static_cast<std::size_t>(replicas_->size()),
                GradientNorm(replicas_->copies().layout().trainable));
}

void HostExchange::set_values(int tower, const std::vector<NamedTensor>& values) {
  if (!norms_.empty()) norms_[static_cast<std::size_t>(tower)] = GradientNorm(values);
}

Clipped HostExchange::collect(int tower, double mean_scale, const std::vector<double>& l2) {
  gradients_.collect(tower);
  if (norms_.empty() || mean_scale == 0) return {};
  GradientNorm& norm = norms_[static_cast<std::size_t>(tower)];
  norm.run_share(gradients_.view({mean_scale}, {tower}), l2, 0, 1);
  return clipped(norm.norm(), max_tower_norm_);
}

}  // namespace pagoda
