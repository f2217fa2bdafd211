#include "models/multi_head_attention.h"

#include <optional>

#include <ATen/ops/empty.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/init.h>

#include "models/fast_linear.h"

namespace pagoda {

MultiHeadAttention::MultiHeadAttention(std::int64_t hidden, std::int64_t heads, double dropout)
    : hidden_(hidden), heads_(heads), dropout_(dropout) {
  in_weight_ = register_parameter("in_proj_weight", at::empty({3 * hidden, hidden}));
  in_bias_ = register_parameter("in_proj_bias", at::zeros({3 * hidden}));
  out_ = register_module("out_proj", torch::nn::Linear(hidden, hidden));
  torch::nn::init::xavier_uniform_(in_weight_);
  torch::nn::init::xavier_uniform_(out_->weight);
  torch::nn::init::zeros_(out_->bias);
}

at::Tensor MultiHeadAttention::in_projection(const at::Tensor& x, std::int64_t first,
                                             std::int64_t parts) const {
  return fast_linear(x, in_weight_.narrow(0, first * hidden_, parts * hidden_),
                     in_bias_.narrow(0, first * hidden_, parts * hidden_));
}

at::Tensor MultiHeadAttention::queries(const at::Tensor& x) const { return in_projection(x, 0, 1); }

at::Tensor MultiHeadAttention::keys_values(const at::Tensor& memory) const {
  return in_projection(memory, 1, 2);
}

at::Tensor MultiHeadAttention::queries_keys_values(const at::Tensor& x) const {
  return fast_linear(x, in_weight_, in_bias_);
}

at::Tensor MultiHeadAttention::attend(const at::Tensor& queries, const at::Tensor& keys,
                                      const at::Tensor& values, const at::Tensor& mask,
                                      bool causal) const {
  const auto by_head = [&](const at::Tensor& x) {
    return x.unflatten(2, {heads_, hidden_ / heads_}).transpose(1, 2);
  };
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

at::Tensor MultiHeadAttention::combined(const at::Tensor& found) const {
  return fast_linear(found, out_->weight, out_->bias);
}

}  // namespace pagoda
