#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/models/seq2seq.h>

#include <cmath>
#include <string>

#include <torch/nn/init.h>

#include "models/narrow_products.h"
#include "models/target_tokens.h"

namespace pagoda {
namespace {

torch::nn::Embedding make_embedding(std::int64_t vocabulary, const Seq2SeqOptions& options) {
  torch::nn::Embedding embedding(torch::nn::EmbeddingOptions(vocabulary, options.embedding)
                                     .padding_idx(kPaddingToken)
                                     .sparse(options.row_gradients == RowGradients::sparse));
  // As small as the other weights, so that a tied output layer begins with small logits.
  const at::NoGradGuard no_grad;
  embedding->weight.normal_(0, 1 / std::sqrt(static_cast<double>(options.embedding)));
  embedding->weight[kPaddingToken].zero_();
  return embedding;
}

RnnState joined(const RnnState& a, const RnnState& b) {
  return {at::cat({a.hidden, b.hidden}, 1),
          a.cell.defined() ? at::cat({a.cell, b.cell}, 1) : at::Tensor()};
}

RnnState rows_of(const RnnState& state, const at::Tensor& numbers) {
  return {state.hidden.index_select(0, numbers),
          state.cell.defined() ? state.cell.index_select(0, numbers) : at::Tensor()};
}

void require(bool fine, const std::string& problem) {
  if (!fine) throw UsageError(problem);
}

}  // namespace

void check(const Seq2SeqOptions& o) {
  require(o.source_vocabulary > 0 && o.target_vocabulary > 0 && o.embedding > 0 && o.hidden > 0 &&
              o.layers > 0,
          "a seq2seq model needs vocabularies, embedding, hidden size and layers of at least 1");
  require(!o.bidirectional || o.hidden % 2 == 0,
          "a bidirectional encoder gives half of the hidden size to each direction: " +
              std::to_string(o.hidden) + " is odd");
  require(o.dropout >= 0 && o.dropout < 1,
          "the dropout is " + number_text(o.dropout) + "; it must be at least 0 and below 1");
  require(o.label_smoothing >= 0 && o.label_smoothing < 1,
          "a label smoothing of " + number_text(o.label_smoothing) +
              " is not possible; it must be in [0, 1)");
  require(o.tied != TiedEmbeddings::all || o.source_vocabulary == o.target_vocabulary,
          "tying all embeddings takes one vocabulary for both sides, not " +
              std::to_string(o.source_vocabulary) + " and " + std::to_string(o.target_vocabulary) +
              " tokens");
  if (o.softmax == SoftmaxKind::sampled) {
    require(o.label_smoothing == 0, "label smoothing is for the full softmax, not the sampled one");
    require(o.samples > 0 && o.samples <= o.target_vocabulary,
            "cannot draw " + std::to_string(o.samples) + " different tokens of a vocabulary of " +
                std::to_string(o.target_vocabulary));
  }
}

void DecoderState::continue_from(const at::Tensor& numbers) {
  for (auto& layer : layers) layer = rows_of(layer, numbers);
  if (fed.defined()) fed = fed.index_select(0, numbers);
}

DecoderState DecoderState::rows(const at::Tensor& numbers) const {
  DecoderState some = *this;
  some.continue_from(numbers);
  for (auto* tensor : {&some.sources.memory, &some.sources.keys, &some.sources.padding}) {
    *tensor = tensor->index_select(0, numbers);
  }
  return some;
}

Seq2SeqImpl::Seq2SeqImpl(const Seq2SeqOptions& options) : options_(options) {
  check(options);
  const std::int64_t hidden = options.hidden;
  // The decoder's outputs have the size of what they are compared with.
  const std::int64_t output = options.tied == TiedEmbeddings::none ? hidden : options.embedding;
  target_embedding_ =
      register_module("target_embedding", make_embedding(options.target_vocabulary, options));
  source_embedding_ =
      options.tied == TiedEmbeddings::all
          ? target_embedding_
          : register_module("source_embedding", make_embedding(options.source_vocabulary, options));
  const std::int64_t one_way = options.bidirectional ? hidden / 2 : hidden;
  for (std::int64_t i = 0; i < options.layers; ++i) {
    const std::string number = std::to_string(i);
    const std::int64_t in = i == 0 ? options.embedding : hidden;
    const auto layer = [&](const char* name, std::int64_t input, std::int64_t size, bool reverse) {
      return register_module(
          name + number,
          RnnLayer(RnnLayerOptions{
              .input = input, .hidden = size, .cell = options.cell, .reverse = reverse}));
    };
    encoder_.push_back(layer("encoder", in, one_way, false));
    if (options.bidirectional) encoder_back_.push_back(layer("encoder_back", in, one_way, true));
    const std::int64_t fed = i == 0 && options.input_feeding ? output : 0;
    decoder_.push_back(layer("decoder", in + fed, hidden, false));
  }
  attention_ = register_module("attention", Attention(options.attention, hidden, hidden));
  combine_ = register_module("combine", torch::nn::Linear(2 * hidden, output));
  dropout_ = register_module("dropout", torch::nn::Dropout(options.dropout));
  if (options.tied == TiedEmbeddings::none) {
    const double bound = 1 / std::sqrt(static_cast<double>(output));
    output_weight_ = register_parameter(
        "output_weight", at::empty({options.target_vocabulary, output}).uniform_(-bound, bound));
  }
  output_bias_ = register_parameter("output_bias", at::zeros({options.target_vocabulary}));
}

OutputLayer Seq2SeqImpl::output() const {
  return {options_.tied == TiedEmbeddings::none ? output_weight_ : target_embedding_->weight,
          output_bias_};
}

RnnResult Seq2SeqImpl::encoder_layer(std::size_t number, at::Tensor x, const at::Tensor& lengths) {
  x = dropout_(number == 0 ? source_embedding_(x) : x);
  const RnnResult result = encoder_[number](x, lengths);
  if (!options_.bidirectional) return result;
  const RnnResult back = encoder_back_[number](x, lengths);
  return {at::cat({result.outputs, back.outputs}, 2), joined(result.last, back.last)};
}

EncodedSources Seq2SeqImpl::encoded(const at::Tensor& outputs, const at::Tensor& lengths) {
  EncodedSources sources;
  sources.memory = outputs.transpose(0, 1).contiguous();
  sources.keys = attention_->keys(sources.memory);
  const at::Tensor places = at::arange(outputs.size(0), lengths.options());
  sources.padding = (places >= lengths.unsqueeze(1)).to(outputs.device());
  return sources;
}

EncodedSources Seq2SeqImpl::encode(const at::Tensor& source, const at::Tensor& lengths) {
  std::vector<RnnState> states;
  at::Tensor x = source.t();
  for (std::size_t i = 0; i < encoder_.size(); ++i) {
    const RnnResult result = encoder_layer(i, x, lengths);
    x = result.outputs;
    states.push_back(result.last);
  }
  EncodedSources sources = encoded(x, lengths);
  sources.states = std::move(states);
  return sources;
}

DecoderState Seq2SeqImpl::start(EncodedSources sources) const {
  DecoderState state;
  state.layers = std::move(sources.states);
  if (options_.input_feeding) {
    state.fed =
        at::zeros({sources.memory.size(0), output().weight.size(1)}, sources.memory.options());
  }
  state.sources = std::move(sources);
  return state;
}

at::Tensor Seq2SeqImpl::attend(const at::Tensor& queries, const EncodedSources& sources,
                               at::Tensor* attention) {
  const Attended attended =
      attention_->forward(queries, sources.memory, sources.keys, sources.padding);
  if (attention != nullptr) *attention = attended.weights;
  return dropout_(combine_(at::cat({attended.context, queries}, 2)).tanh());
}

at::Tensor Seq2SeqImpl::decode_at_once(const at::Tensor& embedded, const at::Tensor& lengths,
                                       DecoderState& state, at::Tensor* attention) {
  at::Tensor x = embedded;
  for (std::size_t i = 0; i < decoder_.size(); ++i) {
    if (i > 0) x = dropout_(x);
    RnnResult result = decoder_[i](x, lengths, state.layers[i]);
    x = result.outputs;
    state.layers[i] = result.last;
  }
  return attend(x.transpose(0, 1), state.sources, attention);
}

at::Tensor Seq2SeqImpl::decode(const at::Tensor& inputs, const at::Tensor& lengths,
                               DecoderState& state, at::Tensor* attention) {
  const at::Tensor embedded = dropout_(target_embedding_(inputs));
  if (!options_.input_feeding) return decode_at_once(embedded, lengths, state, attention);
  std::vector<at::Tensor> outputs;
  for (std::int64_t t = 0; t < inputs.size(0); ++t) {
    const at::Tensor x = at::cat({embedded.narrow(0, t, 1), state.fed.unsqueeze(0)}, 2);
    const at::Tensor left = lengths.defined() ? (lengths - t).clamp(0, 1) : at::Tensor();
    outputs.push_back(decode_at_once(x, left, state, attention));
    state.fed = outputs.back().squeeze(1);
  }
  return at::cat(outputs, 1);
}

Tensors Seq2SeqImpl::decoded(DecoderState state, const at::Tensor& target) {
  const auto [inputs, labels, lengths] = target_tokens(target);
  return counted_places(decode(inputs.t(), lengths, state, nullptr), labels);
}

SoftmaxLoss Seq2SeqImpl::loss(const at::Tensor& source, const at::Tensor& lengths,
                              const at::Tensor& target, const Candidates& candidates) {
  return softmax(decoded(start(encode(source, lengths)), target), candidates);
}

SoftmaxLoss Seq2SeqImpl::softmax(const Tensors& outputs, const Candidates& candidates) {
  const at::Tensor& hidden = outputs.at(0);
  const at::Tensor& expected = outputs.at(1);
  if (!is_training() || options_.softmax == SoftmaxKind::full) {
    return full_softmax_loss(hidden, output(), expected,
                             is_training() ? options_.label_smoothing : 0);
  }
  if (!candidates.defined()) {
    throw UsageError("the sampled softmax needs candidates in training; see draw_candidates");
  }
  return sampled_softmax_loss(hidden, output(), expected, candidates, options_.row_gradients);
}

DecoderStep Seq2SeqImpl::step(const at::Tensor& tokens, DecoderState& state) {
  at::Tensor attention;
  const at::Tensor hidden = decode(tokens.unsqueeze(0), {}, state, &attention).squeeze(1);
  const auto [weight, bias] = output();
  // 16 bits are too coarse to compare tokens by.
  const at::Tensor logits = widened_by_autocast(at::linear(hidden, weight, bias));
  return {logits.log_softmax(-1), widened_by_autocast(attention.squeeze(1))};
}

}  // namespace pagoda
