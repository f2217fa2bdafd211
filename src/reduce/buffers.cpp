#include <pagoda/reduce/buffers.h>

#include <ATen/core/grad_mode.h>

namespace pagoda {
namespace {

at::Tensor cpu_copy(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
}

}  // namespace

BufferCombiner::BufferCombiner(const TowerGroup& towers, BufferRule rule)
    : towers_(towers),
      rule_(rule),
      changed_(static_cast<std::size_t>(towers.size()),
               std::vector<char>(towers.table(0).buffers.size())) {
  for (const auto& entry : towers.table(0).buffers) good_.push_back(cpu_copy(entry.tensor));
}

void BufferCombiner::note_changes(int tower) {
  const auto& own = towers_.table(tower).buffers;
  for (std::size_t i = 0; i < own.size(); ++i) {
    // Not the version counter: batch_norm writes its running statistics without counting.
    changed_[static_cast<std::size_t>(tower)][i] =
        !own[i].tensor.detach().to(at::kCPU).equal(good_[i]);
  }
}

void BufferCombiner::combine(const std::vector<double>& weights) {
  at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < good_.size(); ++i) {
    bool changed = false;
    for (const auto& tower : changed_) changed |= tower[i] != 0;
    if (!changed) continue;
    if (rule_ == BufferRule::first || !good_[i].is_floating_point()) {
      good_[i].copy_(towers_.table(0).buffers[i].tensor);
    } else {
      good_[i].zero_();
      for (int tower = 0; tower < towers_.size(); ++tower) {
        const double weight = weights[static_cast<std::size_t>(tower)];
        if (weight == 0) continue;  // it had no data
        good_[i].add_(towers_.table(tower).buffers[i].tensor.to(at::kCPU), weight);
      }
    }
    spread(i, good_[i]);
  }
}

void BufferCombiner::restore() {
  for (int tower = 0; tower < towers_.size(); ++tower) restore(tower);
}

void BufferCombiner::restore(int tower) {
  at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < good_.size(); ++i)
    towers_.table(tower).buffers[i].tensor.copy_(good_[i]);
}

void BufferCombiner::adopt_first() {
  for (std::size_t i = 0; i < good_.size(); ++i) {
    good_[i].copy_(towers_.table(0).buffers[i].tensor);
    spread(i, good_[i]);
  }
}

void BufferCombiner::spread(std::size_t buffer, const at::Tensor& value) {
  at::NoGradGuard no_grad;
  for (int tower = 0; tower < towers_.size(); ++tower)
    towers_.table(tower).buffers[buffer].tensor.copy_(value);
}

}  // namespace pagoda
