#pragma once

#include <pagoda/models/fast_dropout.h>
#include <pagoda/models/sequence_model.h>

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

namespace pagoda {

/// Where a block is normalised.
enum class NormPlace {
  before,  ///< pre-norm: x + block(norm(x)), and a norm after the last layer; trains without care
  after,   ///< post-norm, as in the first Transformer: norm(x + block(x)); wants warm-up
};

/// How a token knows its place.
enum class Positions {
  sinusoidal,
  learnt,  ///< a parameter for each of `max_positions` places
};

/// Size and regularisation of a Transformer.
struct TransformerOptions {
  std::int64_t source_vocabulary = 8000;        ///< tokens
  std::int64_t target_vocabulary = 8000;        ///< tokens
  std::int64_t hidden = 256;                    ///< of tokens and layers
  std::int64_t layers = 4;                      ///< of the encoder, and of the decoder
  std::int64_t heads = 4;                       ///< of every attention; they divide `hidden`
  std::int64_t ffn = 1024;                      ///< units of the feed-forward blocks
  NormPlace norm = NormPlace::before;           ///< of each block
  Positions positions = Positions::sinusoidal;  ///< of tokens
  std::int64_t max_positions = 1024;  ///< of learnt positions: tokens of the longest sequence
  double dropout = 0;                 ///< of embeddings and of what each block adds
  double attention_dropout = 0;       ///< of attention weights
  double ffn_dropout = 0;             ///< of the feed-forward blocks' units
  TiedEmbeddings tied = TiedEmbeddings::none;         ///< which matrices are one
  double label_smoothing = 0;                         ///< for the full softmax
  SoftmaxKind softmax = SoftmaxKind::full;            ///< in training
  std::int64_t samples = 512;                         ///< candidates of the sampled softmax
  RowGradients row_gradients = RowGradients::sparse;  ///< see TokenOptions
};

/// Fails: UsageError that names what cannot be.
void check(const TransformerOptions& options);

class TransformerEncoderBlock;
class TransformerDecoderBlock;

/// Encoder and decoder of attention alone (Vaswani et al., 2017): translation, dialogue.
///
/// The parameters of layer i are called as those of torch.nn.TransformerEncoderLayer and
/// TransformerDecoderLayer behind "encoder<i>." and "decoder<i>.", and mean the same, with ReLU
/// between the feed-forward layers. Embeddings are multiplied by √hidden.
///
/// For a pipeline each layer of encoder and decoder is a layer, and the output one more. With a tied
/// output layer the decoder is one layer; with all embeddings tied everything is.
///
/// A decoder's state keeps keys and values of what was decoded, so that a step computes one token.
/// Its attention is the mean over the heads of the last layer.
///
/// Threads: as torch::nn::Module: one at a time.
/// Fails: UsageError for options that cannot be, and for more tokens than there are learnt positions.
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

  /// What it was made with.
  const TransformerOptions& options() const { return options_; }

 private:
  struct State;  // where the decoder stands

  /// What is added to the tokens of sources or targets: their places. Layers of both sides may run at a time.
  struct Side {
    at::Tensor learnt;  // defined if they are
    at::Tensor waves;   // sinusoidal ones that were asked for so far
  };

  /// Tokens [batch, time] from place `first` on, as vectors [batch, time, hidden].
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
  torch::nn::LayerNorm encoder_norm_{nullptr};  // with pre-norm
  torch::nn::LayerNorm decoder_norm_{nullptr};
  FastDropout dropout_{nullptr};
  Side source_;
  Side target_;
};
TORCH_MODULE(Transformer);

}  // namespace pagoda
