#include "reduce/card_sum.h"

#include <pagoda/base/error.h>

#include <algorithm>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include "tower/parameter_copies.h"

namespace pagoda {

CardSum::CardSum(std::shared_ptr<const Replicas> replicas, std::unique_ptr<CardLink> link,
                 std::optional<std::int64_t> bucket_bytes, std::optional<at::ScalarType> narrow)
    : replicas_(std::move(replicas)),
      link_(std::move(link)),
      narrow_(narrow),
      state_(static_cast<std::size_t>(replicas_->size())),
      hooks_(replicas_,
             [this](int number, std::size_t parameter) { note_ready(number, parameter); }) {
  std::int64_t bytes = 0;
  for (const auto& entry : replicas_->table(0).trainable)
    bytes += static_cast<std::int64_t>(entry.tensor.nbytes());
  cut(bucket_bytes.value_or(CardSum::bucket_bytes(bytes)));
  for (Tower& own : state_) clear(own);
}

std::int64_t CardSum::bucket_bytes(std::int64_t gradient_bytes) {
  return std::clamp<std::int64_t>(gradient_bytes / 8, 1 << 20, 25 << 20);
}

void CardSum::cut(std::int64_t bucket_bytes) {
  const auto& parameters = replicas_->table(0).trainable;
  bucket_of_.resize(parameters.size());
  std::int64_t bytes = bucket_bytes;
  for (std::size_t left = parameters.size(); left > 0; --left) {
    const at::Tensor& next = parameters[left - 1].tensor;
    const bool fits =
        !buckets_.empty() && bytes < bucket_bytes &&
        parameters[buckets_.back().parameters.front()].tensor.scalar_type() == next.scalar_type();
    if (!fits) {
      buckets_.emplace_back();
      bytes = 0;
    }
    Bucket& bucket = buckets_.back();
    bucket.parameters.push_back(left - 1);
    bucket.offsets.push_back(bucket.elements);
    bucket.elements += next.numel();
    bytes += next.numel() * static_cast<std::int64_t>(next.element_size());
    bucket_of_[left - 1] = buckets_.size() - 1;
  }
}

void CardSum::clear(Tower& own) const {
  own = {};
  own.ready.resize(bucket_of_.size());
  own.sums.resize(buckets_.size());
  for (const Bucket& bucket : buckets_) own.missing.push_back(bucket.parameters.size());
}

void CardSum::begin(int number) { tower(number).filling = true; }

void CardSum::note_ready(int number, std::size_t parameter) {
  Tower& own = tower(number);
  if (!own.filling) return;
  if (own.ready[parameter]) {
    if (bucket_of_[parameter] >= own.sent) return;
    refuse_late_gradient(replicas_->table(number).trainable[parameter].name, "cards");
  }
  own.ready[parameter] = 1;
  --own.missing[bucket_of_[parameter]];
  while (own.sent < buckets_.size() && own.missing[own.sent] == 0) send(number);
}

/// The tower's next bucket; gradients that are not there count as zero.
void CardSum::send(int number) {
  at::NoGradGuard no_grad;
  Tower& own = tower(number);
  const Bucket& bucket = buckets_[own.sent];
  at::Tensor& sum = own.sums[own.sent];
  ++own.sent;
  const at::TensorOptions own_type =
      parameter(number, bucket.parameters.front()).options().requires_grad(false);
  const bool narrows = narrow_ && own_type.dtype() == at::kFloat;
  sum = at::zeros({bucket.elements}, narrows ? own_type.dtype(*narrow_) : own_type);
  for (std::size_t i = 0; i < bucket.parameters.size(); ++i) {
    const at::Tensor& one = parameter(number, bucket.parameters[i]);
    if (!one.grad().defined() || one.grad().is_sparse()) continue;
    sum.as_strided(one.sizes(), one.strides(), bucket.offsets[i]).copy_(one.grad());
  }
  if (weight_ != 1) sum.mul_(weight_);
  link_->start_sum(number, sum);
}

/// How many towers have a dense gradient for each parameter, and then how many a sparse one.
std::vector<float> CardSum::count_users(int number) {
  const std::size_t count = bucket_of_.size();
  std::vector<float> users(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const at::Tensor& gradient = parameter(number, i).grad();
    if (gradient.defined()) users[gradient.is_sparse() ? count + i : i] = 1;
  }
  const at::Tensor on_host = at::zeros({static_cast<std::int64_t>(users.size())}, at::kFloat);
  std::copy(users.begin(), users.end(), on_host.mutable_data_ptr<float>());
  const at::Tensor sum = on_host.to(replicas_->device(number).torch_device());
  link_->start_sum(number, sum);
  link_->wait(number);
  const at::Tensor counted = sum.to(at::kCPU);
  const float* values = counted.const_data_ptr<float>();
  return {values, values + users.size()};
}

void CardSum::end(int number) {
  at::NoGradGuard no_grad;
  Tower& own = tower(number);
  while (own.sent < buckets_.size()) send(number);
  const std::vector<float> users = count_users(number);
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    const at::Tensor sum =
        own.sums[b].to(parameter(number, buckets_[b].parameters.front()).scalar_type());
    for (std::size_t i = 0; i < buckets_[b].parameters.size(); ++i) {
      const std::size_t index = buckets_[b].parameters[i];
      const at::Tensor& one = parameter(number, index);
      const bool dense = users[index] > 0;
      const bool sparse = users[bucket_of_.size() + index] > 0;
      if (dense && sparse) {
        throw UsageError("the gradient of '" + replicas_->table(number).trainable[index].name +
                         "' is dense on some towers and sparse on others; place parameters host");
      }
      if (dense) {
        one.mutable_grad() = sum.as_strided(one.sizes(), one.strides(), buckets_[b].offsets[i]);
      }
    }
  }
  clear(own);
}

void CardSum::exchange(int number) {
  at::NoGradGuard no_grad;
  for (int owner = 0; owner < replicas_->size(); ++owner) {
    const auto& ranges = replicas_->copies().share(owner);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i].size() > 0)
        link_->start_broadcast(number, owner, elements_of(parameter(number, i), ranges[i]));
    }
  }
  link_->wait(number);
}

void CardSum::reset() {
  link_->reset();
  for (Tower& own : state_) clear(own);
}

}  // namespace pagoda
