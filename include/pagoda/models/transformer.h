#pragma once

#include <pagoda/models/fast_dropout.h>
#include <pagoda/models/sequence_model.h>

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

namespace pagoda {

/// Where layer normalisation is applied.
enum class NormPlace {
  before,  ///< pre-norm: x + block(norm(x)), and a norm after the last layer; easier to train
  after,   ///< post-norm, as in the original Transformer: norm(x + block(x)); needs warm-up
};

/// How the positions of tokens are encoded.
enum class Positions {
  sinusoidal,
  learnt,  ///< a vector of parameters for each of `max_positions` positions
};

/// Size and regularisation of a Transformer.
struct TransformerOptions {
  std::int64_t source_vocabulary = 8000;        ///< tokens
  std::int64_t target_vocabulary = 8000;        ///< tokens
  std::int64_t hidden = 256;                    ///< size of embeddings and layers
  std::int64_t layers = 4;                      ///< of the encoder, and of the decoder
  std::int64_t heads = 4;                       ///< attention heads; must divide `hidden`
  std::int64_t ffn = 1024;                      ///< units of the feed-forward blocks
  NormPlace norm = NormPlace::before;           ///< pre-norm or post-norm
  Positions positions = Positions::sinusoidal;  ///< how positions are encoded
  std::int64_t max_positions = 1024;  ///< longest sequence with learnt positions, in tokens
  double dropout = 0;                 ///< probability; on embeddings and each block's output
  double attention_dropout = 0;       ///< probability; on attention weights
  double ffn_dropout = 0;             ///< probability; on the units of feed-forward blocks
  TiedEmbeddings tied = TiedEmbeddings::none;         ///< which matrices are shared
  double label_smoothing = 0;                         ///< in training; only with the full softmax
  SoftmaxKind softmax = SoftmaxKind::full;            ///< in training
  std::int64_t samples = 512;                         ///< candidates of the sampled softmax
  RowGradients row_gradients = RowGradients::sparse;  ///< see TokenOptions
};

/// Checks the options. Fails: UsageError that names the invalid one.
void check(const TransformerOptions& options);

class TransformerEncoderBlock;
class TransformerDecoderBlock;

/// The Transformer (Vaswani et al., 2017), an encoder and decoder built on attention, for
/// translation or dialogue.
///
/// After the prefix "encoder<i>." or "decoder<i>.", the parameters of layer i have the names and
/// meaning of those of torch.nn.TransformerEncoderLayer and TransformerDecoderLayer, with ReLU
/// between the feed-forward layers. Embeddings are multiplied by √hidden.
///
/// Its layers for a pipeline are those of encoder and decoder, and one for the output. With a tied
/// output, decoder and output are one layer; with all embeddings tied, the whole model is one.
///
/// The decoder's state is a key/value cache, so that each step computes only one token. The
/// attention that a step returns is the mean over the heads of the last layer.
///
/// Threads: as torch::nn::Module: one at a time.
/// Fails: UsageError for invalid options, and for sequences longer than the learnt positions.
/// Example:
///     Transformer model(TransformerOptions{.hidden = 512, .layers = 6, .heads = 8, .ffn = 2048});
///     auto [loss, nll] = model->loss(source, source_lengths, target);
class TransformerImpl : public SequenceModel {
 public:
  explicit TransformerImpl(const TransformerOptions& options = {});

  Tensors outputs(const at::Tensor& source, const at::Tensor& lengths,
                  const at::Tensor& target) override;
  std::vector<Layer> layers() override;

  std::unique_ptr<DecoderState> start(const at::Tensor& source, const at::Tensor& lengths) override;
  DecoderStep step(const at::Tensor& tokens, DecoderState& state,
                   WithAttention attention = WithAttention::no) override;
  void use_int8(Int8Products& products) override;

  /// The options it was made with.
  const TransformerOptions& options() const { return options_; }

 private:
  struct State;  // the decoder's state

  /// Positions, which are added to the embeddings of sources or of targets: one object for each
  /// side, because layers of both sides may run at the same time.
  struct Side {
    at::Tensor learnt;  // undefined for sinusoidal ones
    at::Tensor waves;   // the sinusoidal ones computed so far
  };

  /// The vectors [batch, time, hidden] of tokens [batch, time] at positions from `first` on.
  at::Tensor embedded(torch::nn::Embedding& embedding, const at::Tensor& tokens, Side& side,
                      std::int64_t first);
  at::Tensor embedded_source(const at::Tensor& source);
  at::Tensor embedded_target(const at::Tensor& tokens, std::int64_t first);
  at::Tensor wave_places(Side& side, std::int64_t first, std::int64_t count,
                         const at::Tensor& like) const;
  at::Tensor encode(const at::Tensor& source, const at::Tensor& lengths);
  Tensors decoded(at::Tensor memory, const at::Tensor& lengths, const at::Tensor& target);
  at::Tensor encoder_end(const at::Tensor& x);
  at::Tensor decoder_end(const at::Tensor& x);
  Layer encoder_layer(std::size_t number);
  Layer decoder_layer(std::size_t number);
  Layer whole_decoder();
  Layer output_layer();

  const TransformerOptions options_;
  std::vector<std::shared_ptr<TransformerEncoderBlock>> encoder_;
  std::vector<std::shared_ptr<TransformerDecoderBlock>> decoder_;
  torch::nn::LayerNorm encoder_norm_{nullptr};  // pre-norm only
  torch::nn::LayerNorm decoder_norm_{nullptr};
  FastDropout dropout_{nullptr};
  Side source_;
  Side target_;
};
TORCH_MODULE(Transformer);

}  // namespace pagoda
