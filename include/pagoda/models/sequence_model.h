#pragma once

#include <pagoda/models/softmax_loss.h>
#include <pagoda/params/layer.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>

namespace pagoda {

class Int8Linear;
class Int8Products;

/// Which matrices are one and the same.
enum class TiedEmbeddings {
  none,
  output,  ///< the target's embedding is the output layer
  all,     ///< the source's too, which takes one vocabulary for both
};

/// What the loss compares a target with in training.
enum class SoftmaxKind {
  full,
  sampled,  ///< in training; evaluation always takes the full one
};

/// Embeddings, output layer and loss, which all sequence models have.
struct TokenOptions {
  std::int64_t source_vocabulary = 8000;       ///< tokens
  std::int64_t target_vocabulary = 8000;       ///< tokens
  std::int64_t embedding = 256;                ///< numbers for each token
  TiedEmbeddings tied = TiedEmbeddings::none;  ///< which matrices are one
  double label_smoothing = 0;                  ///< for the full softmax
  SoftmaxKind softmax = SoftmaxKind::full;     ///< in training
  std::int64_t samples = 512;                  ///< candidates of the sampled softmax
  /// Of embeddings and the sampled softmax: sparse for SyncStep, dense for optimizers of LibTorch
  /// that know no sparse gradients.
  RowGradients row_gradients = RowGradients::sparse;
};

/// Fails: UsageError that names what cannot be.
void check(const TokenOptions& options);

/// Where a decoder stands: any number of rows, each a target that grows, of one of the sources.
class DecoderState {
 public:
  virtual ~DecoderState() = default;

  /// Row r goes on from what row numbers[r] was; rows may be repeated or left out.
  virtual void select(const at::Tensor& numbers) = 0;
};

/// What one step of a decoder gives for each row.
struct DecoderStep {
  at::Tensor hidden;     ///< [rows, size]; see SequenceModel::logits
  at::Tensor attention;  ///< [rows, places] of the source, where it was asked for
};

/// Whether a step also gives its attention weights.
enum class WithAttention { no, yes };

/// What training, pipelines and decoding need of a model that turns sequences into sequences. Seq2Seq
/// and Transformer are such models; one of your own is decoded and trained like them.
///
/// Sequences are rows of int64 tokens; token 0 fills them up and never counts. A target begins with
/// the token that starts a decoder and ends with the one that ends it. `source` is [batch, places],
/// `lengths` [batch] on the host, `target` [batch, tokens].
///
/// Written for one device; see SyncStep for many.
/// Threads: as torch::nn::Module: one at a time.
class SequenceModel : public torch::nn::Module {
 public:
  /// Mean loss over the target tokens (the first of each row excepted, which is given).
  /// `candidates` are needed in training with the sampled softmax.
  SoftmaxLoss loss(const at::Tensor& source, const at::Tensor& lengths, const at::Tensor& target,
                   const Candidates& candidates = {});

  /// What `softmax` takes: the decoder's outputs and the tokens that are expected of them.
  virtual Tensors outputs(const at::Tensor& source, const at::Tensor& lengths,
                          const at::Tensor& target) = 0;

  /// The same for a pipeline: layers that take {source, lengths, target} and give what `softmax`
  /// takes. They refer to the model.
  virtual std::vector<Layer> layers() = 0;

  /// The loss of what `outputs` or the last layer gave.
  SoftmaxLoss softmax(const Tensors& outputs, const Candidates& candidates = {});

  /// Reads the sources, and stands before the first token of a target for each.
  virtual std::unique_ptr<DecoderState> start(const at::Tensor& source,
                                              const at::Tensor& lengths) = 0;

  /// Feeds one token [rows] to each row and moves `state`, which is one of this model's, on.
  virtual DecoderStep step(const at::Tensor& tokens, DecoderState& state,
                           WithAttention attention = WithAttention::no) = 0;

  /// How much each token fits [rows, target vocabulary]; softmax makes probabilities of it.
  at::Tensor logits(const at::Tensor& hidden) const;

  /// `logits` for many calls between which the weights do not change: what can be is prepared once.
  std::function<at::Tensor(const at::Tensor& hidden)> prepared_logits() const;

  /// The output layer of these tokens [count] alone, in their order.
  OutputLayer output_of(const at::Tensor& tokens) const;

  /// From now on matrices have 8 bits wherever no gradients are computed: decoding takes less time, and
  /// finds nearly the same. Replicas with the same weights are given the same `products`. Call it again
  /// when weights have changed. A model of your own says which of its matrices; this has the output layer.
  /// Fails: as Int8Products::of; the model may then be partly changed.
  virtual void use_int8(Int8Products& products);

  /// What it was made with.
  const TokenOptions& tokens() const { return tokens_; }

 protected:
  /// Registers the embeddings. Fails: UsageError for options that cannot be.
  explicit SequenceModel(const TokenOptions& tokens);

  /// Registers the output layer for outputs of that size: the last thing that a constructor does.
  void add_output(std::int64_t size);

  torch::nn::Embedding& source_embedding() { return source_embedding_; }
  torch::nn::Embedding& target_embedding() { return target_embedding_; }
  OutputLayer output() const;

  /// The tensors of the output layer that are not an embedding's.
  Tensors own_output_tensors() const;

 private:
  const TokenOptions tokens_;
  torch::nn::Embedding source_embedding_{nullptr};
  torch::nn::Embedding target_embedding_{nullptr};
  at::Tensor output_weight_;  // undefined when tied
  at::Tensor output_bias_;
  std::shared_ptr<const Int8Linear> int8_output_;
};

}  // namespace pagoda
