#include <pagoda/base/number_text.h>
#include <pagoda/models/transformer.h>

#include <algorithm>
#include <cmath>
#include <string>

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>

#include "models/narrow_products.h"
#include "models/option_check.h"
#include "models/source_mask.h"
#include "models/target_tokens.h"
#include "models/token_options.h"
#include "models/transformer_blocks.h"
#include "models/transformer_state.h"

namespace pagoda {
namespace {

/// Sines and cosines of the places from 0 on, [places, hidden], the sines first as in tensor2tensor.
at::Tensor waves(std::int64_t places, std::int64_t hidden) {
  const std::int64_t half = hidden / 2;
  const double step = std::log(10000.0) / static_cast<double>(std::max<std::int64_t>(half - 1, 1));
  const at::Tensor rates = at::exp(at::arange(half, at::kDouble) * -step);
  const at::Tensor angles = at::arange(places, at::kDouble).unsqueeze(1) * rates;
  const at::Tensor both = at::cat({angles.sin(), angles.cos()}, 1);
  return hidden % 2 == 0 ? both : at::constant_pad_nd(both, {0, 1});
}

std::vector<std::int64_t> numbers_of(const at::Tensor& tensor) {
  const at::Tensor host = tensor.cpu().contiguous();
  const auto* begin = host.const_data_ptr<std::int64_t>();
  return {begin, begin + host.numel()};
}

}  // namespace

void check(const TransformerOptions& o) {
  check(token_options(o, o.hidden));
  require(o.layers > 0 && o.heads > 0 && o.ffn > 0 && o.max_positions > 0,
          "a Transformer needs layers, heads, feed-forward units and positions of at least 1");
  require(o.hidden % o.heads == 0, "a hidden size of " + std::to_string(o.hidden) +
                                       " cannot be divided among " + std::to_string(o.heads) +
                                       " heads; take a number of heads that divides it");
  for (const double dropout : {o.dropout, o.attention_dropout, o.ffn_dropout}) {
    require(dropout >= 0 && dropout < 1,
            "the dropout is " + number_text(dropout) + "; it must be at least 0 and below 1");
  }
}

void TransformerImpl::State::select(const at::Tensor& numbers) { rows.select(numbers_of(numbers)); }

TransformerImpl::TransformerImpl(const TransformerOptions& options)
    : SequenceModel(token_options(options, options.hidden)), options_(options) {
  check(options);
  const auto norm = [&](const char* name) {
    return register_module(name,
                           torch::nn::LayerNorm(torch::nn::LayerNormOptions({options.hidden})));
  };
  for (std::int64_t i = 0; i < options.layers; ++i) {
    encoder_.push_back(register_module("encoder" + std::to_string(i),
                                       std::make_shared<TransformerEncoderBlock>(options)));
  }
  for (std::int64_t i = 0; i < options.layers; ++i) {
    decoder_.push_back(register_module("decoder" + std::to_string(i),
                                       std::make_shared<TransformerDecoderBlock>(options)));
  }
  if (options.norm == NormPlace::before) {
    encoder_norm_ = norm("encoder_norm");
    decoder_norm_ = norm("decoder_norm");
  }
  dropout_ = register_module("dropout", FastDropout(options.dropout));
  if (options.positions == Positions::learnt) {
    const auto positions = [&](const char* name) {
      const double spread = 1 / std::sqrt(static_cast<double>(options.hidden));
      return register_parameter(
          name, at::empty({options.max_positions, options.hidden}).normal_(0, spread));
    };
    source_.learnt = positions("source_positions");
    target_.learnt = positions("target_positions");
  }
  add_output(options.hidden);
}

at::Tensor TransformerImpl::wave_places(Side& side, std::int64_t first, std::int64_t count,
                                        const at::Tensor& like) const {
  const at::Tensor& known = side.waves;
  const bool fits = known.defined() && known.size(0) >= first + count &&
                    known.device() == like.device() && known.scalar_type() == like.scalar_type();
  if (!fits) {
    const std::int64_t size = std::max<std::int64_t>(2 * (first + count), 64);
    side.waves = waves(size, options_.hidden).to(like.options());
  }
  return side.waves.narrow(0, first, count);
}

at::Tensor TransformerImpl::embedded(torch::nn::Embedding& embedding, const at::Tensor& tokens,
                                     Side& side, std::int64_t first) {
  const std::int64_t count = tokens.size(1);
  const at::Tensor vectors = embedding(tokens) * std::sqrt(static_cast<double>(options_.hidden));
  if (!side.learnt.defined())
    return dropout_(vectors + wave_places(side, first, count, vectors.detach()));
  require(first + count <= options_.max_positions,
          "a sequence of " + std::to_string(first + count) + " tokens is longer than the " +
              std::to_string(options_.max_positions) +
              " learnt positions; leave it out, or train with more of them (max_positions; "
              "pagoda train has as many as --max-length needs)");
  return dropout_(vectors + side.learnt.narrow(0, first, count));
}

at::Tensor TransformerImpl::embedded_source(const at::Tensor& source) {
  return embedded(source_embedding(), source, source_, 0);
}

at::Tensor TransformerImpl::embedded_target(const at::Tensor& tokens, std::int64_t first) {
  return embedded(target_embedding(), tokens, target_, first);
}

at::Tensor TransformerImpl::encoder_end(const at::Tensor& x) {
  return encoder_norm_.is_empty() ? x : encoder_norm_(x);
}

at::Tensor TransformerImpl::decoder_end(const at::Tensor& x) {
  return decoder_norm_.is_empty() ? x : decoder_norm_(x);
}

at::Tensor TransformerImpl::encode(const at::Tensor& source, const at::Tensor& lengths) {
  const at::Tensor mask = source_mask(lengths, source);
  at::Tensor x = embedded_source(source);
  for (const auto& block : encoder_) x = block->forward(x, mask);
  return encoder_end(x);
}

Tensors TransformerImpl::decoded(at::Tensor memory, const at::Tensor& lengths,
                                 const at::Tensor& target) {
  const auto [inputs, labels, target_lengths] = target_tokens(target);
  const at::Tensor mask = source_mask(lengths, memory);
  at::Tensor x = embedded_target(inputs, 0);
  for (const auto& block : decoder_) x = block->forward(x, memory, mask);
  return counted_places(decoder_end(x), labels);
}

Tensors TransformerImpl::outputs(const at::Tensor& source, const at::Tensor& lengths,
                                 const at::Tensor& target) {
  return decoded(encode(source, lengths), lengths, target);
}

std::unique_ptr<DecoderState> TransformerImpl::start(const at::Tensor& source,
                                                     const at::Tensor& lengths) {
  const at::Tensor memory = encode(source, lengths);
  auto state = std::make_unique<State>(numbers_of(lengths));
  for (const auto& block : decoder_) state->sources.emplace_back(block->memory_keys_values(memory));
  state->before.resize(decoder_.size());
  return state;
}

DecoderStep TransformerImpl::step(const at::Tensor& tokens, DecoderState& state,
                                  WithAttention with_attention) {
  auto& now = dynamic_cast<State&>(state);
  at::Tensor attention;
  at::Tensor x = embedded_target(tokens.unsqueeze(1), now.rows.steps()).squeeze(1);
  now.rows.add_step();
  for (std::size_t i = 0; i < decoder_.size(); ++i) {
    const bool wanted = with_attention == WithAttention::yes && i + 1 == decoder_.size();
    x = decoder_[i]->next(x, now.rows, now.before[i], now.sources[i],
                          wanted ? &attention : nullptr);
  }
  return {decoder_end(x), attention};
}

void TransformerImpl::use_int8(Int8Products& products) {
  for (const auto& block : encoder_) block->use_int8(products);
  for (const auto& block : decoder_) block->use_int8(products);
  SequenceModel::use_int8(products);
}

}  // namespace pagoda
