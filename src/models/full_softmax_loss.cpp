#include <pagoda/models/softmax_loss.h>

#include <algorithm>

#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include "models/fast_product.h"
#include "models/narrow_products.h"
#include "models/softmax_kernels.h"
#include "models/token_check.h"

namespace pagoda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Logits at a time: half of a usual third-level cache.
constexpr std::int64_t kChunkBytes = 16 << 20;
constexpr std::int64_t kChunkRows = 64;  // or a multiple: fewer, and others, make products slow

/// Of the mean loss. Undefined are those of frozen tensors, but not the bias's, which costs little.
struct Gradients {
  at::Tensor hidden, weight, bias;
};

struct Computed {
  double loss = 0;
  double negative_log_likelihood = 0;
};

/// out = a · b; operands of 16 bits give a result that is rounded to 16 bits on the way.
void multiply(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (a.scalar_type() == out.scalar_type()) {
    multiply_into(out, a, b);
  } else {
    out.copy_(narrow_product(a, b));
  }
}

/// The matrix products of the gradients for the rows of `hidden` from `begin` on. `hidden` and `weight`
/// have the type of the products.
void add_products(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& grad_logits,
                  std::int64_t begin, Gradients& gradients) {
  const std::int64_t count = grad_logits.size(0);
  const at::Tensor by_logits = grad_logits.to(weight.scalar_type());
  if (gradients.hidden.defined())
    multiply(gradients.hidden.narrow(0, begin, count), by_logits, weight);
  if (!gradients.weight.defined()) return;
  const at::Tensor some = hidden.narrow(0, begin, count);
  if (begin == 0) {
    multiply(gradients.weight, by_logits.t(), some);
  } else {
    add_product(gradients.weight, grad_logits.t(), some);
  }
}

/// The gradients of a sum become those of the mean.
void divide(Gradients& gradients, std::int64_t rows) {
  for (const at::Tensor& one : {gradients.hidden, gradients.weight, gradients.bias}) {
    if (one.defined()) one.div_(static_cast<double>(rows));
  }
}

/// The losses, and the gradients of the mean loss where they are asked for.
template <class T>
Computed compute(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& bias,
                 const at::Tensor& targets, double smoothing, Gradients* gradients) {
  const std::int64_t rows = hidden.size(0);
  const std::int64_t vocabulary = weight.size(0);
  // Parts of a mean over many rows and tokens would vanish in 16 bits: there the sum's are formed.
  const bool narrow = weight.scalar_type() != bias.scalar_type();
  const T scale = narrow ? T(1) : T(1) / static_cast<T>(rows);
  const std::int64_t fitting = kChunkBytes / (vocabulary * std::int64_t{sizeof(T)});
  const std::int64_t chunk_rows =
      std::min(rows, std::max(std::int64_t{1}, fitting / kChunkRows) * kChunkRows);
  const at::Tensor chunk = at::empty({chunk_rows, vocabulary}, bias.options());
  Computed computed;
  for (std::int64_t begin = 0; begin < rows; begin += chunk_rows) {
    const std::int64_t count = std::min(chunk_rows, rows - begin);
    at::Tensor logits = chunk.narrow(0, 0, count);
    multiply(logits, hidden.narrow(0, begin, count), weight.t());
    for (std::int64_t row = 0; row < count; ++row) {
      const RowLoss one = run_row(
          SoftmaxRow<T>{logits.mutable_data_ptr<T>() + row * vocabulary, bias.const_data_ptr<T>(),
                        gradients ? gradients->bias.mutable_data_ptr<T>() : nullptr, vocabulary,
                        targets.const_data_ptr<std::int64_t>()[begin + row],
                        static_cast<T>(smoothing), gradients ? scale : T(0)});
      computed.loss += one.loss;
      computed.negative_log_likelihood += one.negative_log_likelihood;
    }
    if (gradients != nullptr) add_products(hidden, weight, logits, begin, *gradients);
  }
  if (gradients != nullptr && narrow) divide(*gradients, rows);
  computed.loss /= static_cast<double>(rows);
  computed.negative_log_likelihood /= static_cast<double>(rows);
  return computed;
}

Computed compute(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& bias,
                 const at::Tensor& targets, double smoothing, Gradients* gradients) {
  const at::ScalarType type = product_type(hidden);
  const at::AutoDispatchBelowADInplaceOrView plain_views;
  const WithoutAutocast as_they_are;
  const at::Tensor rows = hidden.contiguous().to(type);
  const at::Tensor tokens = weight.to(type);
  const at::Tensor offsets = bias.contiguous();
  const at::Tensor ids = targets.contiguous();
  return hidden.scalar_type() == at::kFloat
             ? compute<float>(rows, tokens, offsets, ids, smoothing, gradients)
             : compute<double>(rows, tokens, offsets, ids, smoothing, gradients);
}

struct FullSoftmaxFunction : torch::autograd::Function<FullSoftmaxFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& hidden,
                               const at::Tensor& weight, const at::Tensor& bias,
                               const at::Tensor& targets, double smoothing) {
    Gradients gradients;
    gradients.bias = at::zeros(bias.sizes(), bias.options());
    if (hidden.requires_grad()) gradients.hidden = at::empty(hidden.sizes(), hidden.options());
    if (weight.requires_grad()) {
      gradients.weight = hidden.size(0) > 0 ? at::empty(weight.sizes(), weight.options())
                                            : at::zeros(weight.sizes(), weight.options());
    }
    const Computed computed = compute(hidden, weight, bias, targets, smoothing, &gradients);
    context->save_for_backward({gradients.hidden, gradients.weight, gradients.bias});
    at::Tensor likelihood = at::scalar_tensor(computed.negative_log_likelihood, hidden.options());
    context->mark_non_differentiable({likelihood});
    return {at::scalar_tensor(computed.loss, hidden.options()), likelihood};
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const variable_list saved = context->get_saved_variables();
    const auto scaled = [&](const at::Tensor& gradient) {
      return gradient.defined() ? gradient * grads[0] : at::Tensor();
    };
    return {scaled(saved[0]), scaled(saved[1]), scaled(saved[2]), {}, {}};
  }
};

}  // namespace

SoftmaxLoss full_softmax_loss(const at::Tensor& hidden, const OutputLayer& output,
                              const at::Tensor& targets, double smoothing) {
  const auto& [weight, bias] = output;
  check_targets(targets, hidden, weight.size(0));
  const at::Tensor rows = widened_by_autocast(hidden);
  const at::ScalarType type = rows.scalar_type();
  if (!rows.is_cpu() || (type != at::kFloat && type != at::kDouble)) {
    const at::Tensor logits = at::linear(rows, weight, bias);
    return {at::cross_entropy_loss(logits, targets, {}, at::Reduction::Mean, -100, smoothing),
            at::cross_entropy_loss(logits.detach(), targets)};
  }
  const bool needs_gradient =
      at::GradMode::is_enabled() &&
      (rows.requires_grad() || weight.requires_grad() || bias.requires_grad());
  if (!needs_gradient) {
    const Computed computed = compute(rows, weight, bias, targets, smoothing, nullptr);
    return {at::scalar_tensor(computed.loss, rows.options()),
            at::scalar_tensor(computed.negative_log_likelihood, rows.options())};
  }
  const variable_list results = FullSoftmaxFunction::apply(rows, weight, bias, targets, smoothing);
  return {results[0], results[1]};
}

}  // namespace pagoda
