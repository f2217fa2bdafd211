#include "models/fast_linear.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/custom_function.h>

#include "models/fast_product.h"
#include "models/narrow_products.h"

namespace pagoda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Of matrices, outside of autograd; `weight` has the type of the product.
at::Tensor affine_rows(const at::Tensor& rows, const at::Tensor& weight, const at::Tensor& bias) {
  return product(rows, weight.t()).add_(bias);
}

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& rows,
                            const at::Tensor& weight, const at::Tensor& bias) {
    const at::ScalarType type = product_type(rows);
    const at::AutoDispatchBelowADInplaceOrView plain_views;
    const WithoutAutocast as_they_are;
    const at::Tensor matrix = weight.to(type);
    context->save_for_backward({rows.to(type), matrix});
    return affine_rows(rows, matrix, bias);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor gradient = gradients[0].contiguous();
    const auto needs = [&](std::size_t argument) { return context->needs_input_grad(argument); };
    return {needs(0) ? product(gradient, saved[1]) : at::Tensor(),
            needs(1) ? product(gradient.t(), saved[0]) : at::Tensor(),
            needs(2) ? gradient.sum(0) : at::Tensor()};
  }
};

}  // namespace

at::Tensor fast_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const at::Tensor wide = widened_by_autocast(x);
  if (!wide.is_cpu() || wide.scalar_type() != at::kFloat) return at::linear(x, weight, bias);
  const at::Tensor rows = wide.reshape({-1, weight.size(1)});
  const bool needs_gradient = at::GradMode::is_enabled() &&
                              (x.requires_grad() || weight.requires_grad() || bias.requires_grad());
  const at::Tensor result = needs_gradient ? LinearFunction::apply(rows, weight, bias)
                                           : affine_rows(rows, weight.to(product_type(rows)), bias);
  std::vector<std::int64_t> sizes(x.sizes().begin(), x.sizes().end());
  sizes.back() = weight.size(0);
  return result.view(sizes);
}

}  // namespace pagoda
