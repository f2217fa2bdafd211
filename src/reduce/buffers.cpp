#include "reduce/buffers.h"

#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include "tower/replica_use.h"

namespace pagoda {
namespace {

at::Tensor cpu_copy(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace

BufferCombiner::BufferCombiner(std::shared_ptr<const Replicas> replicas, BufferRule rule)
    : replicas_(std::move(replicas)),
      rule_(rule),
      changed_(static_cast<std::size_t>(replicas_->size()), std::vector<char>(buffers(0).size())),
      remembered_(static_cast<std::size_t>(replicas_->size())) {
  for (const auto& entry : buffers(0)) good_.push_back(cpu_copy(entry.tensor));
  version_ = replicas_->use().buffer_version;
}

void BufferCombiner::begin() {
  const std::int64_t current = replicas_->use().buffer_version;
  if (version_ == current) return;
  for (std::size_t i = 0; i < good_.size(); ++i) good_[i].copy_(buffers(0)[i].tensor);
  version_ = current;
}

void BufferCombiner::note_new() { version_ = ++replicas_->use().buffer_version; }

void BufferCombiner::note_changes(int tower) {
  const auto& own = buffers(tower);
  for (std::size_t i = 0; i < own.size(); ++i) {
    // Not the version counter: batch_norm writes its running statistics without counting.
    changed_[static_cast<std::size_t>(tower)][i] =
        !own[i].tensor.detach().to(at::kCPU).equal(good_[i]);
  }
}

std::vector<BufferValue> BufferCombiner::values(const std::vector<double>& weights) const {
  const at::NoGradGuard no_grad;
  std::vector<BufferValue> values;
  for (std::size_t i = 0; i < good_.size(); ++i) {
    bool changed = false;
    for (const auto& tower : changed_) changed |= tower[i] != 0;
    const bool is_mean = rule_ == BufferRule::mean && good_[i].is_floating_point();
    values.push_back(
        {is_mean ? at::zeros_like(good_[i]) : cpu_copy(buffers(0)[i].tensor), is_mean, changed});
    for (int tower = 0; is_mean && tower < replicas_->size(); ++tower) {
      const double weight = weights[static_cast<std::size_t>(tower)];
      if (weight == 0) continue;  // it had no data
      values.back().value.add_(buffers(tower)[i].tensor.to(at::kCPU), weight);
    }
  }
  return values;
}

void BufferCombiner::take(const std::vector<BufferValue>& values) {
  for (std::size_t i = 0; i < good_.size(); ++i) {
    if (!values[i].changed) continue;
    good_[i].copy_(values[i].value);
    spread(i, good_[i]);
  }
  note_new();
}

void BufferCombiner::restore() {
  for (std::size_t i = 0; i < good_.size(); ++i) spread(i, good_[i]);
}

void BufferCombiner::adopt_first() {
  for (std::size_t i = 0; i < good_.size(); ++i) {
    good_[i].copy_(buffers(0)[i].tensor);
    spread(i, good_[i]);
  }
  note_new();
}

void BufferCombiner::remember(int tower) {
  auto& copies = remembered_[static_cast<std::size_t>(tower)];
  copies.clear();
  for (const auto& entry : buffers(tower)) copies.push_back(entry.tensor.detach().clone());
}

void BufferCombiner::undo(int tower) {
  at::NoGradGuard no_grad;
  const auto& copies = remembered_[static_cast<std::size_t>(tower)];
  for (std::size_t i = 0; i < copies.size(); ++i) buffers(tower)[i].tensor.copy_(copies[i]);
}

void BufferCombiner::spread(std::size_t buffer, const at::Tensor& value) {
  at::NoGradGuard no_grad;
  for (int tower = 0; tower < replicas_->size(); ++tower)
    buffers(tower)[buffer].tensor.copy_(value);
}

}  // namespace pagoda
