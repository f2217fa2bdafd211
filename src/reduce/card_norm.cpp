#include "reduce/card_norm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

namespace pagoda {

namespace {

/// Elements that are turned into doubles at a time: memory of 8 MB.
constexpr std::int64_t kElementsAtOnce = 1 << 20;

at::Tensor squares_of(const at::Tensor& gradient, double scale, const at::Tensor& parameter,
                      double l2) {
  at::Tensor values = gradient.to(at::kDouble, /*non_blocking=*/false, /*copy=*/true).mul_(scale);
  if (l2 != 0) values.add_(parameter, l2);
  return values.square_().sum();
}

}  // namespace

void CardSquares::add(const at::Tensor& gradient, double scale, const at::Tensor& parameter,
                      double l2) {
  const at::NoGradGuard no_grad;
  if (gradient.numel() <= kElementsAtOnce) {
    numbers_.push_back(squares_of(gradient, scale, parameter, l2));
    return;
  }
  const std::int64_t rows = gradient.size(0);
  const std::int64_t at_once = std::max<std::int64_t>(1, kElementsAtOnce * rows / gradient.numel());
  for (std::int64_t row = 0; row < rows; row += at_once) {
    const std::int64_t count = std::min(at_once, rows - row);
    numbers_.push_back(squares_of(gradient.narrow(0, row, count), scale,
                                  l2 == 0 ? parameter : parameter.narrow(0, row, count), l2));
  }
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
