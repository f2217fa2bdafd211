#include "train/world_share.h"

#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

namespace pagoda {

WorldShare::WorldShare(std::shared_ptr<World> world, const std::vector<NamedTensor>& parameters,
                       int towers)
    : world_(std::move(world)), parameters_(parameters) {
  std::vector<int> counts;
  for (const at::Tensor& one : world_->gather_equal(at::empty({1}, at::kLong).fill_(towers)))
    counts.push_back(static_cast<int>(one.item<std::int64_t>()));
  for (int rank = 0; rank < world_->size(); ++rank) {
    if (rank == world_->rank()) first_tower_ = all_towers_;
    all_towers_ += counts[static_cast<std::size_t>(rank)];
  }
  const BlockPlan plan(parameters_);
  int first = 0;
  for (const int count : counts) {
    std::vector<ElementRange> own(parameters_.size());
    for (int tower = first; tower < first + count; ++tower) {
      const std::vector<ElementRange> share = plan.ranges(tower, all_towers_);
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (share[i].size() == 0) continue;
        if (own[i].size() == 0) own[i].begin = share[i].begin;
        own[i].end = share[i].end;
      }
    }
    ranges_.push_back(std::move(own));
    first += count;
  }
}

/// The rank's elements of that type, one after the other.
at::Tensor WorldShare::joined(int rank, at::ScalarType type) const {
  std::vector<at::Tensor> parts{at::empty({0}, type)};
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& parameter = parameters_[i].tensor;
    if (parameter.scalar_type() == type && of(rank)[i].size() > 0)
      parts.push_back(elements_of(parameter, of(rank)[i]));
  }
  return at::cat(parts);
}

/// Puts them back.
void WorldShare::divide(int rank, const at::Tensor& values) const {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& parameter = parameters_[i].tensor;
    const std::int64_t count = of(rank)[i].size();
    if (parameter.scalar_type() != values.scalar_type() || count == 0) continue;
    elements_of(parameter, of(rank)[i]).copy_(values.narrow(0, offset, count));
    offset += count;
  }
}

void WorldShare::exchange() const {
  at::NoGradGuard no_grad;
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    std::vector<at::Tensor> parts;
    for (int rank = 0; rank < world_->size(); ++rank) parts.push_back(joined(rank, type));
    const at::Tensor own = parts[static_cast<std::size_t>(world_->rank())];
    world_->swap(std::vector<at::Tensor>(parts.size(), own), parts);
    for (int rank = 0; rank < world_->size(); ++rank) {
      if (rank != world_->rank()) divide(rank, parts[static_cast<std::size_t>(rank)]);
    }
  }
}

}  // namespace pagoda
