#pragma once

#include <pagoda/models/transformer.h>

#include <memory>

#include "models/attention_cache.h"
#include "models/multi_head_attention.h"

namespace pagoda {

/// Two linear layers with ReLU between them.
class FeedForward {
 public:
  FeedForward(torch::nn::Module& owner, const TransformerOptions& options);
  at::Tensor operator()(const at::Tensor& x) const;
  void use_int8(Int8Products& products);

 private:
  Affine first_;
  Affine second_;
  FastDropout dropout_;
};

/// A block's part: what `inner` makes of x is added to it, and normalised before or after that.
class Residual {
 public:
  Residual(torch::nn::Module& owner, const char* norm, const TransformerOptions& options);

  template <class Inner>
  at::Tensor operator()(const at::Tensor& x, Inner inner) {
    if (place_ == NormPlace::before) return x + dropout_(inner(norm_(x)));
    return norm_(x + dropout_(inner(x)));
  }

 private:
  const NormPlace place_;
  torch::nn::LayerNorm norm_;
  FastDropout dropout_;
};

/// One layer of the encoder.
class TransformerEncoderBlock : public torch::nn::Module {
 public:
  explicit TransformerEncoderBlock(const TransformerOptions& options);

  at::Tensor forward(const at::Tensor& x, const at::Tensor& mask);
  void use_int8(Int8Products& products);

 private:
  const std::shared_ptr<MultiHeadAttention> attention_;
  FeedForward feed_forward_;
  Residual around_attention_;
  Residual around_feed_forward_;
};

/// One layer of the decoder.
class TransformerDecoderBlock : public torch::nn::Module {
 public:
  explicit TransformerDecoderBlock(const TransformerOptions& options);

  /// Targets that are there as a whole.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& memory, const at::Tensor& mask);

  /// The next token of each row [rows, hidden], after what `before` holds, which gets its keys and
  /// values. `weights`, if not null, becomes the mean weights over the source's places.
  at::Tensor next(const at::Tensor& x, const DecoderRows& rows, GrownCache& before,
                  const SourceCache& source, at::Tensor* weights);

  at::Tensor memory_keys_values(const at::Tensor& memory) const {
    return memory_attention_->keys_values(memory);
  }
  void use_int8(Int8Products& products);

 private:
  const std::shared_ptr<MultiHeadAttention> attention_;
  const std::shared_ptr<MultiHeadAttention> memory_attention_;
  FeedForward feed_forward_;
  Residual around_attention_;
  Residual around_memory_;
  Residual around_feed_forward_;
};

}  // namespace pagoda
