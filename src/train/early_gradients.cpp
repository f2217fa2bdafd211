#include "train/early_gradients.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <string>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "params/gradient_visit.h"
#include "reduce/combine.h"
#include "tower/parameter_copies.h"
#include "train/pack_block.h"

namespace pagoda {

EarlyGradients::EarlyGradients(std::shared_ptr<const Replicas> replicas, WorldSum& sum)
    : replicas_(std::move(replicas)),
      sum_(sum),
      buckets_of_(replicas_->copies().layout().trainable.size()),
      last_(static_cast<std::size_t>(replicas_->size())),
      left_(sum.buckets().size()) {
  for (std::size_t b = 0; b < sum.buckets().size(); ++b) {
    for (const Block& block : sum.buckets()[b].blocks) buckets_of_[block.parameter].push_back(b);
  }
  end();
  hooks_ = std::make_unique<GradientHooks>(
      replicas_, [this](int tower, std::size_t parameter) { note_ready(tower, parameter); });
}

void EarlyGradients::begin(Plan plan) {
  plan_ = std::move(plan);
  end();
  std::fill(last_.begin(), last_.end(), char{0});
  std::fill(left_.begin(), left_.end(), char{0});
  const auto towers =
      static_cast<std::size_t>(std::count(plan_.towers.begin(), plan_.towers.end(), char{1}));
  missing_.clear();
  for (const WorldSum::Bucket& bucket : sum_.buckets()) {
    missing_.push_back(0);
    for (const Block& block : bucket.blocks)
      missing_.back() += plan_.parameters[block.parameter] != 0 ? towers : 0;
  }
}

void EarlyGradients::end() {
  const auto towers = static_cast<std::size_t>(replicas_->size());
  gradients_.assign(buckets_of_.size(), std::vector<at::Tensor>(towers));
  times_.assign(towers, std::vector<int>(buckets_of_.size()));
}

void EarlyGradients::last_backward(int tower) { last_[static_cast<std::size_t>(tower)] = 1; }

bool EarlyGradients::finished_once(std::size_t parameter) const {
  return std::all_of(times_.begin(), times_.end(),
                     [&](const std::vector<int>& times) { return times[parameter] <= 1; });
}

void EarlyGradients::note_ready(int tower, std::size_t parameter) {
  const auto index = static_cast<std::size_t>(tower);
  if (last_[index] == 0) return;
  std::vector<std::size_t> complete;
  {
    const std::lock_guard lock(mutex_);
    const bool again = ++times_[index][parameter] > 1;
    gradients_[parameter][index] = replicas_->table(tower).trainable[parameter].tensor.grad();
    for (const std::size_t bucket : buckets_of_[parameter]) {
      if (again && left_[bucket] != 0) {
        refuse_late_gradient(replicas_->copies().layout().trainable[parameter].name, "processes");
      }
      if (again || plan_.buckets[bucket] == 0 || --missing_[bucket] > 0) continue;
      left_[bucket] = 1;
      complete.push_back(bucket);
    }
  }
  for (const std::size_t bucket : complete) {
    pack(bucket);
    sum_.send(bucket);
  }
}

void EarlyGradients::pack(std::size_t bucket) const {
  at::NoGradGuard no_grad;
  const std::vector<double> weights(static_cast<std::size_t>(replicas_->size()), plan_.weight);
  for (const Block& block : sum_.buckets()[bucket].blocks) {
    const at::Tensor& parameter = replicas_->copies().layout().trainable[block.parameter].tensor;
    std::vector<at::Tensor> towers;
    for (const at::Tensor& one : gradients_[block.parameter])
      towers.push_back(one.defined() ? in_layout_of(parameter, one.detach()) : at::Tensor());
    pack_block(combine(parameter, std::move(towers)), weights, block, sum_.place(block.parameter));
  }
}

}  // namespace pagoda
