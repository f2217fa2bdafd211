#include "reduce/card_norm.h"

#include <cmath>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

namespace pagoda {

void CardSquares::add(const at::Tensor& gradient, double scale, const at::Tensor& parameter,
                      double l2) {
  const at::NoGradGuard no_grad;
  at::Tensor values = gradient.to(at::kDouble).mul(scale);
  if (l2 != 0) values.add_(parameter, l2);
  numbers_.push_back(values.square().sum());
}

double CardSquares::sum() const {
  return numbers_.empty() ? 0 : at::stack(numbers_).sum().item<double>();
}

double own_gradient_norm(const std::vector<NamedTensor>& parameters, double scale,
                         const std::vector<double>& l2) {
  CardSquares squares;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& parameter = parameters[i].tensor;
    at::Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    if (gradient.is_sparse())
      gradient = l2[i] == 0 ? gradient.coalesce().values() : gradient.to_dense();
    squares.add(gradient, scale, parameter, l2[i]);
  }
  return std::sqrt(squares.sum());
}

void scale_gradients(const std::vector<NamedTensor>& parameters, double factor) {
  if (factor == 1) return;
  const at::NoGradGuard no_grad;
  for (const auto& entry : parameters) {
    const at::Tensor& gradient = entry.tensor.grad();
    if (!gradient.defined()) continue;
    if (gradient.is_sparse()) {
      gradient._values().mul_(factor);
    } else {
      entry.tensor.mutable_grad() = gradient.mul(factor);
    }
  }
}

}  // namespace pagoda
