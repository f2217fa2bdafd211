#include "optim/optimizer_pass.h"

namespace pagoda {

OptimizerPass::OptimizerPass(const std::vector<NamedTensor>& parameters,
                             const OptimizerOptions& optimizer, const UpdateOptions& options,
                             UpdatePart part)
    : parameters_(parameters),
      options_(options),
      part_(part),
      plan_(parameters),
      state_(parameters, optimizer, options, plan_.ranges(part.number, part.count)),
      steps_(parameters.size(), AverageStep{}) {}

void OptimizerPass::begin(const GradientView& gradients, const UpdateScalars& scalars) {
  gradients_ = &gradients;
  l2_ = options_.l2 * scalars.l2_scale;
  if (options_.moving_average) {
    average_gain_ = 1 - options_.moving_average->decay_at(scalars.update + 1);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const bool used = gradients.parameters[i].form != ParameterGradient::Form::none;
    steps_[i] =
        used ? state_.next_step(i, scalars.learning_rate, decays(i)) : UpdateStep{AverageStep{}};
  }
}

UpdaterState OptimizerPass::state() const {
  UpdaterState whole = state_.room();
  state_.write_to(whole);
  return whole;
}

Sweep OptimizerPass::sweep_of(std::size_t parameter) const {
  if (gradients_->parameters[parameter].form != ParameterGradient::Form::rows) return Sweep::all;
  if (options_.rows == RowUpdate::lazy) return Sweep::touched;
  return l2_of(parameter) == 0 && state_.rests_without_gradient() ? Sweep::touched : Sweep::all;
}

bool OptimizerPass::decays(std::size_t parameter) const {
  return pagoda::decays(options_.decay_scope, parameters_[parameter].tensor);
}

}  // namespace pagoda
