#include "optim/optimizer_state.h"

#include <cmath>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros.h>

namespace pagoda {
namespace {

// What each optimizer keeps; the order is that of UpdateSpan::state in update_kernels.cpp.
std::vector<const char*> slot_names(const Sgd& sgd) {
  return sgd.momentum == 0 ? std::vector<const char*>{} : std::vector<const char*>{"momentum"};
}
std::vector<const char*> slot_names(const Adam&) { return {"mean", "square"}; }
std::vector<const char*> slot_names(const AdamW&) { return {"mean", "square"}; }
std::vector<const char*> slot_names(const Adagrad&) { return {"sum"}; }
std::vector<const char*> slot_names(const RmsProp& rmsprop) {
  if (rmsprop.centered) return {"square", "momentum", "mean"};
  if (rmsprop.momentum != 0) return {"square", "momentum"};
  return {"square"};
}

template <class Optimizer>
double initial_value(const Optimizer&) {
  return 0;
}
double initial_value(const Adagrad& adagrad) { return adagrad.initial_accumulator; }

UpdateStep step_of(const Sgd& sgd, std::int64_t update, double rate, bool) {
  if (sgd.momentum == 0) return SgdStep{rate};
  return MomentumStep{.rate = rate,
                      .momentum = sgd.momentum,
                      .gain = update == 1 ? 1 : 1 - sgd.dampening,
                      .look_ahead = sgd.nesterov ? sgd.momentum : 1,
                      .from_gradient = sgd.nesterov ? 1.0 : 0.0};
}

template <class AnyAdam>
AdamStep adam_step(const AnyAdam& adam, std::int64_t update, double rate, double keep) {
  const double n = static_cast<double>(update);
  return {.rate = rate / (1 - std::pow(adam.beta1, n)),
          .beta1 = adam.beta1,
          .beta2 = adam.beta2,
          .epsilon = adam.epsilon,
          .root_correction = 1 / std::sqrt(1 - std::pow(adam.beta2, n)),
          .keep = keep};
}

UpdateStep step_of(const Adam& adam, std::int64_t update, double rate, bool) {
  return adam_step(adam, update, rate, 1);
}

UpdateStep step_of(const AdamW& adam, std::int64_t update, double rate, bool decays) {
  return adam_step(adam, update, rate, decays ? 1 - rate * adam.weight_decay : 1);
}

UpdateStep step_of(const Adagrad& adagrad, std::int64_t update, double rate, bool) {
  return AdagradStep{.rate = rate / (1 + static_cast<double>(update - 1) * adagrad.rate_decay),
                     .epsilon = adagrad.epsilon};
}

UpdateStep step_of(const RmsProp& rmsprop, std::int64_t, double rate, bool) {
  return RmsPropStep{.rate = rate,
                     .alpha = rmsprop.alpha,
                     .epsilon = rmsprop.epsilon,
                     .momentum = rmsprop.momentum,
                     .centered = rmsprop.centered};
}

}  // namespace

OptimizerState::OptimizerState(const std::vector<NamedTensor>& parameters,
                               const OptimizerOptions& optimizer, const UpdateOptions& options,
                               std::vector<ElementRange> ranges)
    : parameters_(parameters),
      optimizer_(optimizer),
      ranges_(std::move(ranges)),
      slot_names_(std::visit([](const auto& o) { return slot_names(o); }, optimizer)),
      updates_(at::zeros({static_cast<std::int64_t>(parameters.size())}, at::kLong)) {
  const double initial = std::visit([](const auto& o) { return initial_value(o); }, optimizer);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor values = elements_of(parameters[i].tensor, ranges_[i]);
    for (std::size_t slot = 0; slot < slots(); ++slot)
      tensors_.push_back(at::full_like(values, initial));
    if (options.moving_average) averages_.push_back(values.clone());
  }
}

UpdateStep OptimizerState::next_step(std::size_t parameter, double learning_rate, bool decays) {
  const std::int64_t update = ++updates_.mutable_data_ptr<std::int64_t>()[parameter];
  return std::visit([&](const auto& o) { return step_of(o, update, learning_rate, decays); },
                    optimizer_);
}

bool OptimizerState::rests_without_gradient() const {
  if (const auto* sgd = std::get_if<Sgd>(&optimizer_)) return sgd->momentum == 0;
  return std::holds_alternative<Adagrad>(optimizer_);
}

UpdaterState OptimizerState::room() const {
  UpdaterState whole;
  const auto room_for = [](const at::Tensor& parameter) {
    return at::empty_strided(parameter.sizes(), parameter.strides(),
                             parameter.options().device(at::kCPU).requires_grad(false));
  };
  for (const auto& [name, parameter] : parameters_) {
    for (const char* slot : slot_names_)
      whole.optimizer.push_back({std::string(slot) + "/" + name, room_for(parameter)});
    if (has_averages()) whole.averages.push_back(room_for(parameter));
  }
  whole.optimizer.push_back({"updates", at::empty_like(updates_)});
  return whole;
}

template <class Visit>
void OptimizerState::each_part(const UpdaterState& whole, Visit visit) const {
  at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    if (ranges_[i].size() == 0) continue;
    for (std::size_t slot = 0; slot < slots(); ++slot) {
      visit(tensor(i, slot), elements_of(whole.optimizer[i * slots() + slot].tensor, ranges_[i]));
    }
    if (has_averages()) visit(average(i), elements_of(whole.averages[i], ranges_[i]));
  }
  visit(updates_, whole.optimizer.back().tensor);
}

void OptimizerState::write_to(const UpdaterState& whole) const {
  each_part(whole, [](const at::Tensor& own, const at::Tensor& all) { all.copy_(own); });
}

void OptimizerState::load(const UpdaterState& whole) {
  each_part(whole, [](const at::Tensor& own, const at::Tensor& all) { own.copy_(all); });
}

}  // namespace pagoda
