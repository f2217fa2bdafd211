#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/models/seq2seq.h>

#include <cmath>
#include <string>

#include "models/int8_linear.h"
#include "models/narrow_products.h"
#include "models/option_check.h"
#include "models/seq2seq_state.h"
#include "models/target_tokens.h"
#include "models/token_options.h"

namespace pagoda {
namespace {

RnnState joined(const RnnState& a, const RnnState& b) {
  return {at::cat({a.hidden, b.hidden}, 1),
          a.cell.defined() ? at::cat({a.cell, b.cell}, 1) : at::Tensor()};
}

RnnState rows_of(const RnnState& state, const at::Tensor& numbers) {
  return {state.hidden.index_select(0, numbers),
          state.cell.defined() ? state.cell.index_select(0, numbers) : at::Tensor()};
}

}  // namespace

void check(const Seq2SeqOptions& o) {
  check(token_options(o, o.embedding));
  require(o.hidden > 0 && o.layers > 0,
          "a seq2seq model needs a hidden size and layers of at least 1");
  require(!o.bidirectional || o.hidden % 2 == 0,
          "a bidirectional encoder gives half of the hidden size to each direction: " +
              std::to_string(o.hidden) + " is odd");
  require(o.dropout >= 0 && o.dropout < 1,
          "the dropout is " + number_text(o.dropout) + "; it must be at least 0 and below 1");
}

void Seq2SeqImpl::State::select(const at::Tensor& numbers) {
  for (auto& layer : layers) layer = rows_of(layer, numbers);
  if (fed.defined()) fed = fed.index_select(0, numbers);
  const at::Tensor now = source_of_row.index_select(0, numbers.cpu());
  if (now.equal(source_of_row)) return;  // often, and what was encoded is large
  source_of_row = now;
  for (auto* tensor : {&sources.memory, &sources.keys, &sources.padding}) {
    *tensor = tensor->index_select(0, numbers);
  }
}

Seq2SeqImpl::Seq2SeqImpl(const Seq2SeqOptions& options)
    : SequenceModel(token_options(options, options.embedding)), options_(options) {
  check(options);
  const std::int64_t hidden = options.hidden;
  // The decoder's outputs have the size of what they are compared with.
  const std::int64_t output = options.tied == TiedEmbeddings::none ? hidden : options.embedding;
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
  dropout_ = register_module("dropout", FastDropout(options.dropout));
  add_output(output);
}

RnnResult Seq2SeqImpl::encoder_layer(std::size_t number, at::Tensor x, const at::Tensor& lengths) {
  x = dropout_(number == 0 ? source_embedding()(x) : x);
  const RnnResult result = encoder_[number](x, lengths);
  if (!options_.bidirectional) return result;
  const RnnResult back = encoder_back_[number](x, lengths);
  return {at::cat({result.outputs, back.outputs}, 2), joined(result.last, back.last)};
}

Seq2SeqImpl::EncodedSources Seq2SeqImpl::encoded(const at::Tensor& outputs,
                                                 const at::Tensor& lengths) {
  EncodedSources sources;
  sources.memory = outputs.transpose(0, 1).contiguous();
  sources.keys = attention_->keys(sources.memory);
  const at::Tensor places = at::arange(outputs.size(0), lengths.options());
  sources.padding = (places >= lengths.unsqueeze(1)).to(outputs.device());
  return sources;
}

Seq2SeqImpl::EncodedSources Seq2SeqImpl::encode(const at::Tensor& source,
                                                const at::Tensor& lengths) {
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

Seq2SeqImpl::State Seq2SeqImpl::begin(EncodedSources sources) const {
  State state;
  state.layers = std::move(sources.states);
  const std::int64_t rows = sources.memory.size(0);
  if (options_.input_feeding)
    state.fed = at::zeros({rows, output().weight.size(1)}, sources.memory.options());
  state.source_of_row = at::arange(rows);
  state.sources = std::move(sources);
  return state;
}

std::unique_ptr<DecoderState> Seq2SeqImpl::start(const at::Tensor& source,
                                                 const at::Tensor& lengths) {
  return std::make_unique<State>(begin(encode(source, lengths)));
}

at::Tensor Seq2SeqImpl::attend(const at::Tensor& queries, const EncodedSources& sources,
                               at::Tensor* attention) {
  const Attended attended =
      attention_->forward(queries, sources.memory, sources.keys, sources.padding);
  if (attention != nullptr) *attention = attended.weights;
  const at::Tensor both = at::cat({attended.context, queries}, 2);
  const bool in_int8 = int8_combine_ != nullptr && !at::GradMode::is_enabled();
  return dropout_((in_int8 ? (*int8_combine_)(both) : combine_(both)).tanh());
}

at::Tensor Seq2SeqImpl::decode_at_once(const at::Tensor& embedded, const at::Tensor& lengths,
                                       State& state, at::Tensor* attention) {
  at::Tensor x = embedded;
  for (std::size_t i = 0; i < decoder_.size(); ++i) {
    if (i > 0) x = dropout_(x);
    RnnResult result = decoder_[i](x, lengths, state.layers[i]);
    x = result.outputs;
    state.layers[i] = result.last;
  }
  return attend(x.transpose(0, 1), state.sources, attention);
}

at::Tensor Seq2SeqImpl::decode(const at::Tensor& inputs, const at::Tensor& lengths, State& state,
                               at::Tensor* attention) {
  const at::Tensor embedded = dropout_(target_embedding()(inputs));
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

Tensors Seq2SeqImpl::decoded(State state, const at::Tensor& target) {
  const auto [inputs, labels, lengths] = target_tokens(target);
  return counted_places(decode(inputs.t(), lengths, state, nullptr), labels);
}

Tensors Seq2SeqImpl::outputs(const at::Tensor& source, const at::Tensor& lengths,
                             const at::Tensor& target) {
  return decoded(begin(encode(source, lengths)), target);
}

DecoderStep Seq2SeqImpl::step(const at::Tensor& tokens, DecoderState& state,
                              WithAttention with_attention) {
  at::Tensor attention;
  const at::Tensor hidden =
      decode(tokens.unsqueeze(0), {}, dynamic_cast<State&>(state), &attention).squeeze(1);
  if (with_attention == WithAttention::no) return {hidden, {}};
  return {hidden, widened_by_autocast(attention.squeeze(1))};
}

void Seq2SeqImpl::use_int8(Int8Products& products) {
  for (auto* layers : {&encoder_, &encoder_back_, &decoder_}) {
    for (RnnLayer& layer : *layers) layer->use_int8(products);
  }
  int8_combine_ = products.of(combine_->weight, combine_->bias);
  SequenceModel::use_int8(products);
}

}  // namespace pagoda
