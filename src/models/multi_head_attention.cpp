#include "models/multi_head_attention.h"

#include <optional>

#include <ATen/ops/empty.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/init.h>

#include "models/narrow_products.h"

namespace pagoda {

MultiHeadAttention::MultiHeadAttention(std::int64_t hidden, std::int64_t heads, double dropout)
    : hidden_(hidden), heads_(heads), dropout_(dropout) {
  const at::Tensor weight = register_parameter("in_proj_weight", at::empty({3 * hidden, hidden}));
  const at::Tensor bias = register_parameter("in_proj_bias", at::zeros({3 * hidden}));
  const auto out = register_module("out_proj", torch::nn::Linear(hidden, hidden));
  torch::nn::init::xavier_uniform_(weight);
  torch::nn::init::xavier_uniform_(out->weight);
  torch::nn::init::zeros_(out->bias);
  queries_ = Affine(weight, bias, 0, hidden);
  keys_values_ = Affine(weight, bias, hidden, 2 * hidden);
  queries_keys_values_ = Affine(weight, bias);
  combined_ = Affine(out->weight, out->bias);
}

void MultiHeadAttention::use_int8(Int8Products& products, AttentionOver over) {
  if (over == AttentionOver::themselves) {
    queries_keys_values_.use_int8(products);
  } else {
    queries_.use_int8(products);
    keys_values_.use_int8(products);
  }
  combined_.use_int8(products);
}

at::Tensor MultiHeadAttention::attend(const at::Tensor& queries, const at::Tensor& keys,
                                      const at::Tensor& values, const at::Tensor& mask,
                                      bool causal) const {
  const auto by_head = [&](const at::Tensor& x) {
    return x.unflatten(2, {heads_, hidden_ / heads_}).transpose(1, 2);
  };
  // Its products are small: on a CPU, LibTorch's calls for 16 bits take longer than they do.
  std::optional<WithoutAutocast> in_fp32;
  if (queries.is_cpu()) in_fp32.emplace();
  const at::Tensor found = at::scaled_dot_product_attention(
      by_head(queries), by_head(keys), by_head(values),
      mask.defined() ? std::optional(mask) : std::nullopt, is_training() ? dropout_ : 0, causal);
  return combined(found.transpose(1, 2).flatten(2));
}

at::Tensor MultiHeadAttention::of_all(const at::Tensor& x, const at::Tensor& mask) const {
  const auto parts = queries_keys_values(x).chunk(3, -1);
  return attend(parts[0], parts[1], parts[2], mask, false);
}

at::Tensor MultiHeadAttention::of_those_before(const at::Tensor& x) const {
  const auto parts = queries_keys_values(x).chunk(3, -1);
  return attend(parts[0], parts[1], parts[2], {}, true);
}

at::Tensor MultiHeadAttention::of_memory(const at::Tensor& x, const at::Tensor& keys_values,
                                         const at::Tensor& mask) const {
  const auto parts = keys_values.chunk(2, -1);
  return attend(queries(x), parts[0], parts[1], mask, false);
}

}  // namespace pagoda
