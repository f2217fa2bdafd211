#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/models/fast_dropout.h>

#include <algorithm>
#include <cmath>

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "models/dropout_kernels.h"

namespace pagoda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor dropped(const at::Tensor& values, double p, std::int64_t seed) {
  const at::Tensor x = values.contiguous();
  const at::Tensor result = at::empty_like(x);
  drop_elements(
      {.values = x.const_data_ptr<float>(),
       .count = x.numel(),
       .seed = static_cast<std::uint64_t>(seed),
       .dropped = static_cast<std::uint32_t>(std::min(std::llround(p * 0x1p32), 0xFFFFFFFFLL)),
       .factor = static_cast<float>(1 / (1 - p)),
       .results = result.mutable_data_ptr<float>()});
  return result;
}

/// Backward drops the same elements again: there is nothing to keep for it.
struct DropoutFunction : torch::autograd::Function<DropoutFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, double p,
                            std::int64_t seed) {
    context->saved_data["p"] = p;
    context->saved_data["seed"] = seed;
    const at::AutoDispatchBelowADInplaceOrView plain_views;
    return dropped(x, p, seed);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {dropped(gradients[0], context->saved_data["p"].toDouble(),
                    context->saved_data["seed"].toInt()),
            at::Tensor(), at::Tensor()};
  }
};

}  // namespace

FastDropoutImpl::FastDropoutImpl(double p) : p_(p) {
  if (!(p >= 0 && p < 1))
    throw UsageError("the dropout is " + number_text(p) + "; it must be at least 0 and below 1");
}

at::Tensor FastDropoutImpl::forward(const at::Tensor& x) {
  if (!is_training() || p_ == 0) return x;
  if (!x.is_cpu() || x.scalar_type() != at::kFloat) return at::dropout(x, p_, /*train=*/true);
  const std::int64_t seed = at::empty({1}, at::kLong).random_().item<std::int64_t>();
  return DropoutFunction::apply(x, p_, seed);
}

}  // namespace pagoda
