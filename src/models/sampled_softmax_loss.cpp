#include <pagoda/base/error.h>
#include <pagoda/models/softmax_loss.h>

#include <cmath>
#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

#include <torch/csrc/autograd/custom_function.h>

#include "base/random_streams.h"
#include "models/narrow_products.h"
#include "models/token_check.h"

namespace pagoda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Logarithm of how often a token is expected among candidates of so many tries.
at::Tensor log_expected(const at::Tensor& ids, std::int64_t vocabulary, std::int64_t tries,
                        const at::TensorOptions& options) {
  const at::Tensor id = ids.to(at::kDouble);
  const at::Tensor chance = ((id + 2) / (id + 1)).log() / std::log(vocabulary + 1.0);
  const at::Tensor expected = -at::expm1(at::log1p(-chance) * static_cast<double>(tries));
  return expected.log().to(options.dtype());
}

/// The gradient of a parameter whose rows `ids` have the gradients `rows`.
at::Tensor row_gradient(const at::Tensor& parameter, const at::Tensor& ids, const at::Tensor& rows,
                        bool sparse) {
  if (!sparse) return at::zeros_like(parameter).index_add_(0, ids, rows);
  return at::_sparse_coo_tensor_unsafe(ids.unsqueeze(0), rows, parameter.sizes(),
                                       parameter.options().layout(at::kSparse));
}

struct SampledSoftmaxFunction : torch::autograd::Function<SampledSoftmaxFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& hidden,
                               const at::Tensor& weight, const at::Tensor& bias,
                               const at::Tensor& targets, const at::Tensor& ids, std::int64_t tries,
                               bool sparse) {
    const auto options = hidden.options();
    const at::ScalarType type = product_type(hidden);
    const WithoutAutocast as_they_are;
    const std::int64_t vocabulary = weight.size(0);
    const at::Tensor target_rows = weight.index_select(0, targets);
    const at::Tensor rows = weight.index_select(0, ids).to(type);
    const at::Tensor true_logits = (hidden * target_rows).sum(1) + bias.index_select(0, targets) -
                                   log_expected(targets, vocabulary, tries, options);
    at::Tensor logits =
        affine(bias.index_select(0, ids) - log_expected(ids, vocabulary, tries, options), hidden,
               rows.t());
    logits.masked_fill_(targets.unsqueeze(1) == ids, -std::numeric_limits<double>::infinity());

    const at::Tensor top = at::maximum(logits.amax(1), true_logits);
    at::Tensor powers = logits.sub_(top.unsqueeze(1)).exp_();
    const at::Tensor true_powers = (true_logits - top).exp();
    const at::Tensor sums = powers.sum(1) + true_powers;
    const at::Tensor loss = (sums.log() + top - true_logits).mean();

    // Parts of a mean over many rows would vanish in 16 bits: there the sum's gradients are formed.
    const bool narrow = type != hidden.scalar_type();
    const double mean = 1 / static_cast<double>(hidden.size(0));
    const double scale = narrow ? 1 : mean;
    powers.mul_((scale / sums).unsqueeze(1));
    const at::Tensor true_grad = ((true_powers / sums - 1) * scale).unsqueeze(1);
    const at::Tensor grad_hidden = affine(true_grad * target_rows, powers, rows);
    const at::Tensor grad_rows =
        at::cat({true_grad * hidden, product(powers.t(), hidden.to(type))});
    const at::Tensor grad_bias = at::cat({true_grad.squeeze(1), powers.sum(0)});
    if (narrow) {
      for (const at::Tensor& one : {grad_hidden, grad_rows, grad_bias}) one.mul_(mean);
    }
    context->save_for_backward(
        {grad_hidden, grad_rows, grad_bias, at::cat({targets, ids}), weight, bias});
    context->saved_data["sparse"] = sparse;
    return {loss};
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const variable_list saved = context->get_saved_variables();
    const bool sparse = context->saved_data["sparse"].toBool();
    const at::Tensor& factor = grads[0];
    return {saved[0] * factor,
            row_gradient(saved[4].detach(), saved[3], saved[1] * factor, sparse),
            row_gradient(saved[5].detach(), saved[3], saved[2] * factor, sparse),
            {},
            {},
            {},
            {}};
  }
};

}  // namespace

Candidates draw_candidates(std::int64_t vocabulary, std::int64_t count, std::uint64_t seed) {
  if (count < 1 || count > vocabulary) {
    throw UsageError("cannot draw " + std::to_string(count) + " different tokens of " +
                     std::to_string(vocabulary));
  }
  SplitMix64 random(seed);
  const double log_range = std::log(static_cast<double>(vocabulary) + 1);
  std::unordered_set<std::int64_t> seen;
  std::vector<std::int64_t> ids;
  Candidates candidates;
  while (static_cast<std::int64_t>(ids.size()) < count) {
    ++candidates.tries;
    // Token i covers [log(i + 1), log(i + 2)) of [0, log(vocabulary + 1)).
    const auto id = static_cast<std::int64_t>(std::exp(random.uniform() * log_range)) - 1;
    if (id < vocabulary && seen.insert(id).second) ids.push_back(id);
  }
  candidates.ids = at::tensor(ids, at::kLong);
  return candidates;
}

SoftmaxLoss sampled_softmax_loss(const at::Tensor& hidden, const OutputLayer& output,
                                 const at::Tensor& targets, const Candidates& candidates,
                                 RowGradients rows) {
  check_targets(targets, hidden, output.weight.size(0));
  check_tokens(candidates.ids, output.weight.size(0), "candidate");
  const at::Tensor loss = SampledSoftmaxFunction::apply(
      widened_by_autocast(hidden), output.weight, output.bias, targets,
      candidates.ids.to(hidden.device()), candidates.tries, rows == RowGradients::sparse)[0];
  return {loss, loss.detach()};
}

}  // namespace pagoda
