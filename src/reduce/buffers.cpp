#include "reduce/buffers.h"

#include <numeric>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include "reduce/packed_tensors.h"
#include "tower/replica_use.h"

namespace pagoda {

BufferCombiner::BufferCombiner(std::shared_ptr<const Replicas> replicas, BufferRule rule)
    : replicas_(std::move(replicas)),
      rule_(rule),
      changed_(static_cast<std::size_t>(replicas_->size()), std::vector<char>(buffers(0).size())),
      seen_(static_cast<std::size_t>(replicas_->size())),
      remembered_(static_cast<std::size_t>(replicas_->size())) {
  for (const at::Tensor& value : packed_to_host(tensors(0))) good_.push_back(value.clone());
  version_ = replicas_->use().buffer_version;
}

void BufferCombiner::begin() {
  const std::int64_t current = replicas_->use().buffer_version;
  if (version_ == current) return;
  packed_from_host(packed_to_host(tensors(0)), good_);
  version_ = current;
}

void BufferCombiner::note_new() { version_ = ++replicas_->use().buffer_version; }

std::vector<at::Tensor> BufferCombiner::tensors(int tower) const {
  std::vector<at::Tensor> tensors;
  for (const auto& entry : buffers(tower)) tensors.push_back(entry.tensor);
  return tensors;
}

void BufferCombiner::note_changes(int tower) {
  const auto index = static_cast<std::size_t>(tower);
  seen_[index] = packed_to_host(tensors(tower));
  for (std::size_t i = 0; i < good_.size(); ++i) {
    // Not the version counter: batch_norm writes its running statistics without counting.
    changed_[index][i] = !seen_[index][i].equal(good_[i]);
  }
}

std::vector<BufferValue> BufferCombiner::values(const std::vector<double>& weights) const {
  const at::NoGradGuard no_grad;
  std::vector<std::vector<at::Tensor>> seen = seen_;
  for (int tower = 0; tower < replicas_->size(); ++tower) {
    auto& own = seen[static_cast<std::size_t>(tower)];
    if (own.empty()) own = packed_to_host(tensors(tower));
  }
  std::vector<BufferValue> values;
  for (std::size_t i = 0; i < good_.size(); ++i) {
    bool changed = false;
    for (const auto& tower : changed_) changed |= tower[i] != 0;
    const bool is_mean = rule_ == BufferRule::mean && good_[i].is_floating_point();
    values.push_back({is_mean ? at::zeros_like(good_[i]) : seen[0][i].clone(), is_mean, changed});
    for (std::size_t tower = 0; is_mean && tower < seen.size(); ++tower) {
      if (weights[tower] == 0) continue;  // it had no data
      values.back().value.add_(seen[tower][i], weights[tower]);
    }
  }
  return values;
}

void BufferCombiner::take(const std::vector<BufferValue>& values) {
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < good_.size(); ++i) {
    if (!values[i].changed) continue;
    good_[i].copy_(values[i].value);
    changed.push_back(i);
  }
  spread(changed);
  note_new();
}

void BufferCombiner::restore() { spread(all()); }

void BufferCombiner::adopt_first() {
  packed_from_host(packed_to_host(tensors(0)), good_);
  spread(all());
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

std::vector<std::size_t> BufferCombiner::all() const {
  std::vector<std::size_t> numbers(good_.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

void BufferCombiner::spread(const std::vector<std::size_t>& which) {
  for (int tower = 0; tower < replicas_->size(); ++tower) {
    seen_[static_cast<std::size_t>(tower)].clear();
    std::vector<at::Tensor> values;
    std::vector<at::Tensor> own;
    for (const std::size_t i : which) {
      values.push_back(good_[i]);
      own.push_back(buffers(tower)[i].tensor);
    }
    packed_from_host(values, own);
  }
}

}  // namespace pagoda
