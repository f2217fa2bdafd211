#include "train/meeting.h"

#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>

#include <cmath>
#include <string>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "train/pack_block.h"

namespace pagoda {

void check(const LocalSteps& options) {
  const auto refuse = [](const std::string& what, const std::string& value, const char* range) {
    throw UsageError(what + " is " + value + "; it must be " + range);
  };
  if (options.every < 1)
    refuse("the number of steps between two meetings", std::to_string(options.every), "at least 1");
  if (!(std::isfinite(options.outer_rate) && options.outer_rate > 0))
    refuse("the outer learning rate", number_text(options.outer_rate), "above 0");
  if (!(options.outer_momentum >= 0 && options.outer_momentum < 1)) {
    refuse("the outer momentum", number_text(options.outer_momentum), "at least 0 and less than 1");
  }
  if (options.overlap < 0 || options.overlap >= options.every) {
    refuse("the number of steps during an exchange", std::to_string(options.overlap),
           "at least 0 and less than those between two meetings");
  }
}

Meeting::Meeting(const LocalSteps& options, const std::vector<NamedTensor>& parameters,
                 std::shared_ptr<World> world, WorldSum& sum)
    : options_(options), parameters_(parameters), world_(std::move(world)), sum_(sum) {
  for (const auto& [name, tensor] : parameters_) {
    last_.push_back(tensor.detach().clone());
    momentum_.push_back(at::zeros_like(last_.back()));
    if (options_.overlap > 0) sent_.push_back(at::empty_like(last_.back()));
  }
}

Meeting::~Meeting() {
  if (!under_way_) return;
  try {
    sum_.finish();  // the others wait for their part of it
  } catch (...) {   // a failure that has been reported, or will be by the others
  }
}

void Meeting::count_step(double weight) {
  weight_ += weight;
  ++steps_;
  apart_ = true;
}

void Meeting::begin() {
  at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < sent_.size(); ++i) sent_[i].copy_(parameters_[i].tensor);
  sent_weight_ = std::exchange(weight_, 0);
  steps_ = 0;
  under_way_ = true;
}

void Meeting::pack_share(int share, int shares) {
  const double part = 1.0 / world_->size();
  const auto& buckets = sum_.buckets();
  for (auto b = static_cast<std::size_t>(share); b < buckets.size();
       b += static_cast<std::size_t>(shares)) {
    for (const Block& block : buckets[b].blocks) {
      const std::size_t i = block.parameter;
      const ParameterGradient move{.form = ParameterGradient::Form::dense,
                                   .towers = {last_[i], parameters_[i].tensor.detach()},
                                   .touched = {}};
      pack_block(move, {part, -part}, block, sum_.place(i));
    }
    sum_.send(b);
  }
}

void Meeting::end() {
  at::NoGradGuard no_grad;
  under_way_ = false;
  sum_.finish();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (last_[i].numel() == 0) continue;
    const at::Tensor& mean = sum_.place(i);
    momentum_[i].mul_(options_.outer_momentum).add_(mean);
    last_[i].sub_(mean, options_.outer_rate);
    last_[i].sub_(momentum_[i], options_.outer_rate * options_.outer_momentum);
    const at::Tensor parameter = parameters_[i].tensor.detach();
    if (steps_ == 0) {
      parameter.copy_(last_[i]);
    } else {
      parameter.sub_(sent_[i]).add_(last_[i]);
    }
  }
  const auto asked = static_cast<std::size_t>(world_->asked_to_stop());  // 0: not at all
  const at::Tensor told = at::zeros({1 + World::kStopReasons}, at::kDouble);
  auto* numbers = told.mutable_data_ptr<double>();
  numbers[asked] = 1;
  numbers[0] = sent_weight_;
  world_->sum(told);
  others_weight_ += numbers[0] - sent_weight_;
  for (int reason = World::kStopReasons; reason > 0; --reason) {
    if (numbers[reason] > 0) world_->agree_to_stop(reason);
  }
}

void Meeting::average(const std::vector<at::Tensor>& values) {
  apart_ = false;
  for (const at::Tensor& one : values) {
    if (one.numel() == 0) continue;
    const at::Tensor flat = one.contiguous();
    if (flat.is_floating_point()) {
      world_->sum(flat);
      flat.div_(world_->size());
    } else {
      world_->broadcast(flat);
    }
    if (!flat.is_same(one)) one.copy_(flat);
  }
}

void Meeting::begin_here() {
  if (std::exchange(under_way_, false)) sum_.finish();
  steps_ = 0;
  weight_ = 0;
  apart_ = false;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    last_[i].copy_(parameters_[i].tensor.detach());
}

std::vector<NamedTensor> Meeting::state() const {
  std::vector<NamedTensor> named;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    named.push_back({"momentum/" + parameters_[i].name, momentum_[i]});
  return named;
}

}  // namespace pagoda
