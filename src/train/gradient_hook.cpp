#include "train/gradient_hook.h"

#include <pagoda/base/error.h>

#include <sstream>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "optim/combined_gradient.h"
#include "reduce/combine.h"

namespace pagoda {
namespace {

at::Tensor summed_gradient(const at::Tensor& parameter, const ParameterGradient& gradient,
                           const std::vector<double>& weights) {
  switch (gradient.form) {
    case ParameterGradient::Form::none:
      return {};
    case ParameterGradient::Form::rows:
      return combined_sparse(parameter, gradient, weights);
    case ParameterGradient::Form::summed:
      return in_layout_of(parameter, gradient.towers.front() * weights.front());
    default:
      return combined_elements(gradient, weights, row_elements(parameter), {0, parameter.numel()},
                               parameter.scalar_type())
          .as_strided(parameter.sizes(), parameter.strides());
  }
}

void check_fits(const NamedTensor& parameter, const at::Tensor& gradient) {
  if (gradient.sizes() == parameter.tensor.sizes() &&
      gradient.scalar_type() == parameter.tensor.scalar_type())
    return;
  std::ostringstream text;
  text << "the gradient hook has left " << c10::toString(gradient.scalar_type()) << " "
       << gradient.sizes() << " for '" << parameter.name << "'; it must be "
       << c10::toString(parameter.tensor.scalar_type()) << " " << parameter.tensor.sizes();
  throw UsageError(text.str());
}

}  // namespace

GradientView after_hook(const GradientHook& hook, const std::vector<NamedTensor>& parameters,
                        const GradientView& gradients) {
  const at::NoGradGuard no_grad;
  GradientView view{.weights = {1}, .parameters = {}};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor parameter = parameters[i].tensor.detach();
    at::Tensor gradient = summed_gradient(parameter, gradients.parameters[i], gradients.weights);
    if (gradient.defined()) hook(parameters[i].name, gradient);
    if (gradient.defined()) {
      check_fits(parameters[i], gradient);
      gradient = in_layout_of(parameter, gradient.detach());
    }
    view.parameters.push_back(combine(parameter, {std::move(gradient)}));
  }
  return view;
}

}  // namespace pagoda
