#include "optim/optimizer_pass.h"

#include <utility>

namespace pagoda {

OptimizerPass::OptimizerPass(const std::vector<NamedTensor>& parameters, OptimizerTraits optimizer,
                             const UpdateOptions& options, UpdatePart part)
    : parameters_(parameters),
      part_(part),
      plan_(parameters),
      state_(parameters, optimizer.state, options, plan_.ranges(part.number, part.count)),
      optimizer_(std::move(optimizer)),
      options_(options),
      settings_(settings_of(parameters_, options_, optimizer_)) {}

void OptimizerPass::set_rules(const std::vector<ParameterRule>& rules) {
  UpdateOptions changed = options_;
  changed.rules = rules;
  settings_ = settings_of(parameters_, changed, optimizer_);
  options_ = std::move(changed);
}

void OptimizerPass::begin(const GradientView& gradients, const UpdateScalars& scalars) {
  turns_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    turns_.push_back({.used = gradients.parameters[i].form != ParameterGradient::Form::none,
                      .learning_rate = scalars.learning_rate * settings_[i].rate_factor,
                      .weight_decay = settings_[i].weight_decay});
    check_rate_range(turns_.back(), parameters_[i]);
  }
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    if (turns_[i].used) turns_[i].update = state_.count_update(i);
  }
  gradients_ = &gradients;
  l2_scale_ = scalars.l2_scale;
  if (options_.moving_average)
    average_gain_ = 1 - options_.moving_average->decay_at(scalars.update + 1);
  prepare(turns_);
}

UpdaterState OptimizerPass::state() const {
  UpdaterState whole = state_.room();
  state_.write_to(whole);
  return whole;
}

Sweep OptimizerPass::sweep_of(std::size_t parameter) const {
  if (gradients_->parameters[parameter].form != ParameterGradient::Form::rows) return Sweep::all;
  if (options_.rows == RowUpdate::lazy) return Sweep::touched;
  const bool rests = optimizer_.rests_without_gradient && turns_[parameter].weight_decay == 0;
  return l2_of(parameter) == 0 && rests ? Sweep::touched : Sweep::all;
}

}  // namespace pagoda
