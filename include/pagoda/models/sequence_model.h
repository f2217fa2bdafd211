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

/// Which embedding and output matrices are shared.
enum class TiedEmbeddings {
  none,
  output,  ///< the target embedding is also the weight of the output layer
  all,     ///< it is the source embedding, too; requires one vocabulary for both sides
};

/// Which softmax the loss uses in training.
enum class SoftmaxKind {
  full,
  sampled,  ///< over each target and drawn candidates; evaluation always uses the full one
};

/// Options of embeddings, output layer and loss, which all sequence models have.
struct TokenOptions {
  std::int64_t source_vocabulary = 8000;       ///< tokens
  std::int64_t target_vocabulary = 8000;       ///< tokens
  std::int64_t embedding = 256;                ///< size of a token's embedding
  TiedEmbeddings tied = TiedEmbeddings::none;  ///< which matrices are shared
  double label_smoothing = 0;                  ///< in training; only with the full softmax
  SoftmaxKind softmax = SoftmaxKind::full;     ///< in training
  std::int64_t samples = 512;                  ///< candidates of the sampled softmax
  /// Gradients of embeddings and sampled softmax: sparse for SyncStep, dense for LibTorch
  /// optimizers without support for sparse gradients.
  RowGradients row_gradients = RowGradients::sparse;
};

/// Checks the options. Fails: UsageError that names the invalid one.
void check(const TokenOptions& options);

/// The state of a decoder: any number of rows, each a growing target of one of the sources.
class DecoderState {
 public:
  virtual ~DecoderState() = default;

  /// Makes row r continue from the former row `numbers[r]`; rows may be repeated or left out.
  virtual void select(const at::Tensor& numbers) = 0;
};

/// The result of one decoder step for each row.
struct DecoderStep {
  at::Tensor hidden;     ///< [rows, size]; see SequenceModel::logits
  at::Tensor attention;  ///< [rows, source positions], if requested
};

/// Whether a step also returns its attention weights.
enum class WithAttention { no, yes };

/// What training, pipelines and decoding require of a sequence-to-sequence model. Seq2Seq and
/// Transformer are such models; one of your own is trained and decoded in the same way.
///
/// Sequences are rows of int64 tokens; token 0 is padding and never counts. A target begins with
/// the begin token and ends with the end token. `source` is [batch, positions], `lengths` [batch]
/// on the host, `target` [batch, tokens].
///
/// A model is written for one device; see SyncStep for several.
/// Threads: as torch::nn::Module: one at a time.
class SequenceModel : public torch::nn::Module {
 public:
  /// The mean loss over the target tokens, except the first of each row, which is given.
  /// Fails: UsageError when the sampled softmax is trained without `candidates`.
  SoftmaxLoss loss(const at::Tensor& source, const at::Tensor& lengths, const at::Tensor& target,
                   const Candidates& candidates = {});

  /// The arguments of `softmax`: the decoder's outputs [count, size] and the expected tokens
  /// [count], without padding.
  virtual Tensors outputs(const at::Tensor& source, const at::Tensor& lengths,
                          const at::Tensor& target) = 0;

  /// The same computation as layers for a pipeline: the first takes {source, lengths, target}, and
  /// the last returns the arguments of `softmax`. They refer to the model, which must outlive them.
  virtual std::vector<Layer> layers() = 0;

  /// The loss of what `outputs` or the last layer returned; see `loss`.
  SoftmaxLoss softmax(const Tensors& outputs, const Candidates& candidates = {});

  /// Encodes the sources and returns a state with one row for each, before the first token of its
  /// target.
  virtual std::unique_ptr<DecoderState> start(const at::Tensor& source,
                                              const at::Tensor& lengths) = 0;

  /// Feeds one token to each row (`tokens` [rows]) and advances `state`, which must come from
  /// `start` of this model.
  virtual DecoderStep step(const at::Tensor& tokens, DecoderState& state,
                           WithAttention attention = WithAttention::no) = 0;

  /// The scores of all tokens [rows, target vocabulary], which softmax turns into probabilities.
  at::Tensor logits(const at::Tensor& hidden) const;

  /// The function `logits`, prepared for many calls. Valid as long as the model lives and its
  /// weights do not change.
  std::function<at::Tensor(const at::Tensor& hidden)> prepared_logits() const;

  /// The output layer for these tokens [count] only, in this order.
  OutputLayer output_of(const at::Tensor& tokens) const;

  /// From now on, uses 8-bit matrices wherever no gradients are computed: decoding is faster and
  /// finds nearly the same targets. Pass the same `products` to replicas that share their weights.
  /// After weights have changed, call it again with a new Int8Products. A model of your own
  /// overrides it for its matrices; this implementation converts the output layer.
  /// Fails: as Int8Products::of; part of the model may then be converted.
  virtual void use_int8(Int8Products& products);

  /// The options it was made with.
  const TokenOptions& tokens() const { return tokens_; }

 protected:
  /// Registers the embeddings. Fails: UsageError for invalid options.
  explicit SequenceModel(const TokenOptions& tokens);

  /// Registers the output layer for decoder outputs of this size. Constructors call it last.
  void add_output(std::int64_t size);

  torch::nn::Embedding& source_embedding() { return source_embedding_; }
  torch::nn::Embedding& target_embedding() { return target_embedding_; }
  OutputLayer output() const;

  /// The tensors of the output layer that are not shared with an embedding.
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
