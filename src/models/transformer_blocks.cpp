#include "models/transformer_blocks.h"

#include <torch/nn/init.h>
#include <torch/nn/modules/linear.h>

namespace pagoda {
namespace {

Affine xavier_linear(torch::nn::Module& owner, const char* name, std::int64_t in,
                     std::int64_t out) {
  const auto linear = owner.register_module(name, torch::nn::Linear(in, out));
  torch::nn::init::xavier_uniform_(linear->weight);
  torch::nn::init::zeros_(linear->bias);
  return {linear->weight, linear->bias};
}

std::shared_ptr<MultiHeadAttention> attention_of(const TransformerOptions& options) {
  return std::make_shared<MultiHeadAttention>(options.hidden, options.heads,
                                              options.attention_dropout);
}

}  // namespace

FeedForward::FeedForward(torch::nn::Module& owner, const TransformerOptions& options)
    : first_(xavier_linear(owner, "linear1", options.hidden, options.ffn)),
      second_(xavier_linear(owner, "linear2", options.ffn, options.hidden)),
      dropout_(owner.register_module("ffn_dropout", FastDropout(options.ffn_dropout))) {}

at::Tensor FeedForward::operator()(const at::Tensor& x) const {
  FastDropout dropout = dropout_;
  return second_(dropout(first_(x).relu_()));
}

void FeedForward::use_int8(Int8Products& products) {
  first_.use_int8(products);
  second_.use_int8(products);
}

Residual::Residual(torch::nn::Module& owner, const char* norm, const TransformerOptions& options)
    : place_(options.norm),
      norm_(owner.register_module(
          norm, torch::nn::LayerNorm(torch::nn::LayerNormOptions({options.hidden})))),
      dropout_(
          owner.register_module(std::string("dropout_") + norm, FastDropout(options.dropout))) {}

TransformerEncoderBlock::TransformerEncoderBlock(const TransformerOptions& options)
    : attention_(register_module("self_attn", attention_of(options))),
      feed_forward_(*this, options),
      around_attention_(*this, "norm1", options),
      around_feed_forward_(*this, "norm2", options) {}

at::Tensor TransformerEncoderBlock::forward(const at::Tensor& x, const at::Tensor& mask) {
  const at::Tensor attended =
      around_attention_(x, [&](const at::Tensor& y) { return attention_->of_all(y, mask); });
  return around_feed_forward_(attended, feed_forward_);
}

void TransformerEncoderBlock::use_int8(Int8Products& products) {
  attention_->use_int8(products, AttentionOver::themselves);
  feed_forward_.use_int8(products);
}

TransformerDecoderBlock::TransformerDecoderBlock(const TransformerOptions& options)
    : attention_(register_module("self_attn", attention_of(options))),
      memory_attention_(register_module("multihead_attn", attention_of(options))),
      feed_forward_(*this, options),
      around_attention_(*this, "norm1", options),
      around_memory_(*this, "norm2", options),
      around_feed_forward_(*this, "norm3", options) {}

at::Tensor TransformerDecoderBlock::forward(const at::Tensor& x, const at::Tensor& memory,
                                            const at::Tensor& mask) {
  const at::Tensor attended =
      around_attention_(x, [&](const at::Tensor& y) { return attention_->of_those_before(y); });
  const at::Tensor looked_up = around_memory_(attended, [&](const at::Tensor& y) {
    return memory_attention_->of_memory(y, memory_keys_values(memory), mask);
  });
  return around_feed_forward_(looked_up, feed_forward_);
}

at::Tensor TransformerDecoderBlock::next(const at::Tensor& x, const DecoderRows& rows,
                                         GrownCache& before, const SourceCache& source,
                                         at::Tensor* weights) {
  const at::Tensor attended = around_attention_(x, [&](const at::Tensor& y) {
    return attention_->combined(
        before.add_and_attend(attention_->queries_keys_values(y), attention_->heads(), rows));
  });
  const at::Tensor looked_up = around_memory_(attended, [&](const at::Tensor& y) {
    return memory_attention_->combined(
        source.attend(memory_attention_->queries(y), memory_attention_->heads(), rows, weights));
  });
  return around_feed_forward_(looked_up, feed_forward_);
}

void TransformerDecoderBlock::use_int8(Int8Products& products) {
  attention_->use_int8(products, AttentionOver::themselves);
  memory_attention_->use_int8(products, AttentionOver::memory);
  feed_forward_.use_int8(products);
}

}  // namespace pagoda
