#include "tower/parameter_copies.h"

#include <utility>

#include <ATen/core/grad_mode.h>

namespace pagoda {
namespace {

std::vector<NamedTensor> master_copies(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> copies;
  for (const auto& [name, tensor] : tensors) {
    copies.push_back({name, tensor.detach()
                                .to(at::kCPU, tensor.scalar_type(), /*non_blocking=*/false,
                                    /*copy=*/true)
                                .requires_grad_(tensor.requires_grad())});
  }
  return copies;
}

void alias(const std::vector<NamedTensor>& from, const std::vector<NamedTensor>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i].tensor.set_data(from[i].tensor.detach());
}

void copy(const std::vector<NamedTensor>& from, const std::vector<NamedTensor>& to) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < from.size(); ++i) to[i].tensor.copy_(from[i].tensor);
}

}  // namespace

ParameterCopies::ParameterCopies(std::vector<Device> devices, ParameterPlacement placement)
    : devices_(std::move(devices)),
      placement_(placement),
      own_master_(placement == ParameterPlacement::host || !share_memory(devices_)),
      towers_(devices_.size()) {}

void ParameterCopies::begin(const ParameterTable& first) {
  towers_[0] = first;
  master_ = first;
  if (own_master_) {
    master_.trainable = master_copies(first.trainable);
    master_.frozen = master_copies(first.frozen);
  }
  const BlockPlan plan(master_.trainable);
  const int count = static_cast<int>(towers_.size());
  for (int tower = 0; tower < count; ++tower) shares_.push_back(plan.ranges(tower, count));
}

void ParameterCopies::divide_among(int first, int total) {
  const BlockPlan plan(master_.trainable);
  for (std::size_t tower = 0; tower < shares_.size(); ++tower)
    shares_[tower] = plan.ranges(first + static_cast<int>(tower), total);
}

void ParameterCopies::adopt(int tower, const ParameterTable& own) {
  towers_[static_cast<std::size_t>(tower)] = own;
  if (placement_ == ParameterPlacement::shared) {
    alias(master_.trainable, own.trainable);
    alias(master_.frozen, own.frozen);
  } else {
    renew(tower);
    renew_frozen(tower);
  }
  renew_buffers(tower);
}

const ParameterTable& ParameterCopies::master() const {
  if (behind_) {
    for (int tower = 0; tower < static_cast<int>(towers_.size()); ++tower) publish(tower);
    behind_ = false;
  }
  return master_;
}

void ParameterCopies::publish(int tower) const {
  if (is_master(tower)) return;
  if (!own_master_ && placement_ == ParameterPlacement::mirrored) return;  // tower 0 has the same
  const at::NoGradGuard no_grad;
  const auto& ranges = share(tower);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].size() == 0) continue;
    elements_of(master_.trainable[i].tensor, ranges[i])
        .copy_(elements_of(trainable(tower)[i].tensor, ranges[i]));
  }
}

void ParameterCopies::renew(int tower) const {
  if (placement_ == ParameterPlacement::shared || is_master(tower)) return;
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < master_.trainable.size(); ++i)
    trainable(tower)[i].tensor.copy_(master_.trainable[i].tensor, /*non_blocking=*/true);
}

void ParameterCopies::master_from_first() const {
  behind_ = false;
  if (!own_master_) return;
  copy(towers_[0].trainable, master_.trainable);
  copy(towers_[0].frozen, master_.frozen);
}

void ParameterCopies::renew_frozen(int tower) const {
  if (placement_ == ParameterPlacement::shared || is_master(tower)) return;
  copy(master_.frozen, towers_[static_cast<std::size_t>(tower)].frozen);
}

void ParameterCopies::renew_buffers(int tower) const {
  if (tower == 0) return;
  copy(towers_[0].buffers, towers_[static_cast<std::size_t>(tower)].buffers);
}

}  // namespace pagoda
