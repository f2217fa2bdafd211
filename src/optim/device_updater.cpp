#include <ATen/core/grad_mode.h>

#include "optim/combined_gradient.h"
#include "optim/optimizer_pass.h"

namespace pagoda {
namespace {

/// Elements of a parameter on its device, and what is kept for them.
struct DeviceSpan {
  at::Tensor parameter;
  std::vector<at::Tensor> state;
};

// The formulas of update_kernels.cpp; `g` has the L2 term in it and may be changed.

void run(const SgdStep& step, const DeviceSpan& span, at::Tensor g) {
  span.parameter.sub_(g, step.rate);
}

void run(const MomentumStep& step, const DeviceSpan& span, at::Tensor g) {
  const at::Tensor& velocity = span.state[0];
  velocity.mul_(step.momentum).add_(g, step.gain);
  if (step.from_gradient != 0) span.parameter.sub_(g, step.rate * step.from_gradient);
  span.parameter.sub_(velocity, step.rate * step.look_ahead);
}

void run(const AdamStep& step, const DeviceSpan& span, at::Tensor g) {
  span.state[0].lerp_(g, 1 - step.beta1);
  span.state[1].mul_(step.beta2).addcmul_(g, g, 1 - step.beta2);
  if (step.keep != 1) span.parameter.mul_(step.keep);
  span.parameter.addcdiv_(span.state[0],
                          span.state[1].sqrt().mul_(step.root_correction).add_(step.epsilon),
                          -step.rate);
}

void run(const AdagradStep& step, const DeviceSpan& span, at::Tensor g) {
  span.state[0].addcmul_(g, g);
  span.parameter.addcdiv_(g, span.state[0].sqrt().add_(step.epsilon), -step.rate);
}

void run(const RmsPropStep& step, const DeviceSpan& span, at::Tensor g) {
  span.state[0].mul_(step.alpha).addcmul_(g, g, 1 - step.alpha);
  at::Tensor root = span.state[0];
  if (step.centered) {
    span.state[2].lerp_(g, 1 - step.alpha);
    root = root.addcmul(span.state[2], span.state[2], -1);
  }
  root = root.sqrt().add_(step.epsilon);
  if (step.momentum == 0) {
    span.parameter.addcdiv_(g, root, -step.rate);
  } else {
    span.state[1].mul_(step.momentum).addcdiv_(g, root);
    span.parameter.sub_(span.state[1], step.rate);
  }
}

void run(const AverageStep&, const DeviceSpan&, const at::Tensor&) {}

class DeviceUpdater final : public OptimizerPass {
 public:
  DeviceUpdater(const std::vector<NamedTensor>& parameters, const OptimizerOptions& optimizer,
                const UpdateOptions& options, UpdatePart part)
      : OptimizerPass(parameters, traits_of(optimizer), options, part), steps_(optimizer) {}

  void run_share(int share, int shares) override {
    at::NoGradGuard no_grad;
    const auto ranges = plan_.ranges(part_.number * shares + share, part_.count * shares);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (ranges[i].size() == 0) continue;
      update(i, ranges[i]);
      if (state_.has_averages())
        kept(i, state_.average(i), ranges[i])
            .lerp_(elements_of(parameters_[i].tensor, ranges[i]), average_gain_);
    }
  }

 private:
  void prepare(const std::vector<ParameterTurn>& turns) override { steps_.prepare(turns); }

  /// What is kept for the elements of the range.
  at::Tensor kept(std::size_t parameter, const at::Tensor& tensor,
                  const ElementRange& range) const {
    return tensor.narrow(0, range.begin - state_.range(parameter).begin, range.size());
  }

  DeviceSpan span_of(std::size_t parameter, const ElementRange& range) const {
    DeviceSpan span{elements_of(parameters_[parameter].tensor, range), {}};
    for (std::size_t slot = 0; slot < state_.slots(); ++slot)
      span.state.push_back(kept(parameter, state_.tensor(parameter, slot), range));
    return span;
  }

  void update(std::size_t parameter, const ElementRange& range) {
    const ParameterGradient& gradient = gradients_->parameters[parameter];
    if (gradient.form == ParameterGradient::Form::none) return;
    const at::Tensor& tensor = parameters_[parameter].tensor;
    const DeviceSpan span = span_of(parameter, range);
    if (gradient.form == ParameterGradient::Form::summed) {
      const at::Tensor& sum = summed_on(gradient, tensor.device());
      return apply(parameter, span, elements_of(sum, range) * gradients_->weights.front());
    }
    const std::int64_t row = row_elements(tensor);
    if (sweep_of(parameter) == Sweep::all) {
      apply(parameter, span,
            combined_elements(gradient, gradients_->weights, row, range, tensor.scalar_type()));
      return;
    }
    const auto rows =
        combined_rows(gradient, gradients_->weights, row, range, tensor.scalar_type());
    if (rows.numbers.numel() > 0) update_rows(parameter, span, row, rows);
  }

  void apply(std::size_t parameter, const DeviceSpan& span, const at::Tensor& gradient) {
    const at::Tensor g = gradient.to(span.parameter.device(), /*non_blocking=*/true);
    if (const double l2 = l2_of(parameter); l2 != 0) g.add_(span.parameter, l2);
    std::visit([&](const auto& step) { run(step, span, g); }, steps_[parameter]);
  }

  /// Takes the rows out, updates them and puts them back.
  void update_rows(std::size_t parameter, const DeviceSpan& span, std::int64_t row,
                   const CombinedRows& rows) {
    const at::Tensor numbers = rows.numbers.to(span.parameter.device());
    const auto as_rows = [&](const at::Tensor& tensor) { return tensor.view({-1, row}); };
    DeviceSpan taken{as_rows(span.parameter).index_select(0, numbers), {}};
    for (const auto& tensor : span.state)
      taken.state.push_back(as_rows(tensor).index_select(0, numbers));
    apply(parameter, taken, rows.values);
    as_rows(span.parameter).index_copy_(0, numbers, taken.parameter);
    for (std::size_t i = 0; i < span.state.size(); ++i)
      as_rows(span.state[i]).index_copy_(0, numbers, taken.state[i]);
  }

  BuiltinSteps steps_;
};

}  // namespace

std::unique_ptr<PartUpdater> make_device_part(const std::vector<NamedTensor>& parameters,
                                              const OptimizerOptions& optimizer,
                                              const UpdateOptions& options, UpdatePart part) {
  check(optimizer);
  check(options);
  if (!parameters.empty()) check_parameters(parameters, parameters.front().tensor.device());
  check_range(optimizer, parameters);
  return std::make_unique<DeviceUpdater>(parameters, optimizer, options, part);
}

}  // namespace pagoda
