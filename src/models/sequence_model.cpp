#include <pagoda/base/error.h>
#include <pagoda/base/number_text.h>
#include <pagoda/models/sequence_model.h>

#include <cmath>
#include <string>

#include "models/fast_linear.h"
#include "models/int8_linear.h"
#include "models/narrow_products.h"
#include "models/option_check.h"
#include "models/packed_linear.h"
#include "models/target_tokens.h"

namespace pagoda {
namespace {

torch::nn::Embedding make_embedding(std::int64_t vocabulary, const TokenOptions& options) {
  torch::nn::Embedding embedding(torch::nn::EmbeddingOptions(vocabulary, options.embedding)
                                     .padding_idx(kPaddingToken)
                                     .sparse(options.row_gradients == RowGradients::sparse));
  // As small as the other weights, so that a tied output layer begins with small logits.
  const at::NoGradGuard no_grad;
  embedding->weight.normal_(0, 1 / std::sqrt(static_cast<double>(options.embedding)));
  embedding->weight[kPaddingToken].zero_();
  return embedding;
}

}  // namespace

void check(const TokenOptions& o) {
  require(o.source_vocabulary > 0 && o.target_vocabulary > 0 && o.embedding > 0,
          "a sequence model needs vocabularies and an embedding of at least 1");
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

SequenceModel::SequenceModel(const TokenOptions& tokens) : tokens_(tokens) {
  check(tokens);
  target_embedding_ =
      register_module("target_embedding", make_embedding(tokens.target_vocabulary, tokens));
  source_embedding_ =
      tokens.tied == TiedEmbeddings::all
          ? target_embedding_
          : register_module("source_embedding", make_embedding(tokens.source_vocabulary, tokens));
}

void SequenceModel::add_output(std::int64_t size) {
  if (tokens_.tied == TiedEmbeddings::none) {
    const double bound = 1 / std::sqrt(static_cast<double>(size));
    output_weight_ = register_parameter(
        "output_weight", at::empty({tokens_.target_vocabulary, size}).uniform_(-bound, bound));
  }
  output_bias_ = register_parameter("output_bias", at::zeros({tokens_.target_vocabulary}));
}

OutputLayer SequenceModel::output() const {
  return {output_weight_.defined() ? output_weight_ : target_embedding_->weight, output_bias_};
}

Tensors SequenceModel::own_output_tensors() const {
  return output_weight_.defined() ? Tensors{output_weight_, output_bias_} : Tensors{output_bias_};
}

SoftmaxLoss SequenceModel::loss(const at::Tensor& source, const at::Tensor& lengths,
                                const at::Tensor& target, const Candidates& candidates) {
  return softmax(outputs(source, lengths, target), candidates);
}

SoftmaxLoss SequenceModel::softmax(const Tensors& outputs, const Candidates& candidates) {
  const at::Tensor& hidden = outputs.at(0);
  const at::Tensor& expected = outputs.at(1);
  if (!is_training() || tokens_.softmax == SoftmaxKind::full) {
    return full_softmax_loss(hidden, output(), expected,
                             is_training() ? tokens_.label_smoothing : 0);
  }
  if (!candidates.defined()) {
    throw UsageError("the sampled softmax needs candidates in training; see draw_candidates");
  }
  return sampled_softmax_loss(hidden, output(), expected, candidates, tokens_.row_gradients);
}

at::Tensor SequenceModel::logits(const at::Tensor& hidden) const {
  if (int8_output_ != nullptr && !at::GradMode::is_enabled()) return (*int8_output_)(hidden);
  const auto [weight, bias] = output();
  // 16 bits are too coarse to compare tokens by.
  return widened_by_autocast(fast_linear(hidden, weight, bias));
}

std::function<at::Tensor(const at::Tensor&)> SequenceModel::prepared_logits() const {
  const auto [weight, bias] = output();
  const bool is_plain = int8_output_ == nullptr && product_type(weight) == weight.scalar_type();
  if (const std::shared_ptr<PackedLinear> packed =
          is_plain ? PackedLinear::make(weight, bias) : nullptr)
    return [packed](const at::Tensor& hidden) { return (*packed)(hidden); };
  return [this](const at::Tensor& hidden) { return logits(hidden); };
}

OutputLayer SequenceModel::output_of(const at::Tensor& tokens) const {
  const auto [weight, bias] = output();
  return {weight.index_select(0, tokens), bias.index_select(0, tokens)};
}

void SequenceModel::use_int8(Int8Products& products) {
  const auto [weight, bias] = output();
  int8_output_ = products.of(weight, bias);
}

}  // namespace pagoda
