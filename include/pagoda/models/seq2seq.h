#pragma once

#include <pagoda/models/attention.h>
#include <pagoda/models/fast_dropout.h>
#include <pagoda/models/rnn_layer.h>
#include <pagoda/models/sequence_model.h>

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

namespace pagoda {

/// Size and kind of a recurrent model.
struct Seq2SeqOptions {
  std::int64_t source_vocabulary = 8000;  ///< tokens
  std::int64_t target_vocabulary = 8000;  ///< tokens
  std::int64_t embedding = 256;           ///< numbers for each token
  std::int64_t hidden = 256;   ///< of encoder and decoder; halved for each direction of the encoder
  std::int64_t layers = 1;     ///< of the encoder, and of the decoder
  Cell cell = Cell::lstm;      ///< of the layers
  bool bidirectional = false;  ///< the encoder reads both ways
  AttentionKind attention = AttentionKind::luong;  ///< how the decoder looks back
  /// The decoder sees what it attended to one step before. It then runs step by step, which is
  /// slower than whole sequences.
  bool input_feeding = false;
  double dropout =
      0;  ///< of embeddings, between layers and before the output; 1 - keep probability
  TiedEmbeddings tied = TiedEmbeddings::none;  ///< which matrices are one
  double label_smoothing = 0;                  ///< for the full softmax
  SoftmaxKind softmax = SoftmaxKind::full;     ///< in training
  std::int64_t samples = 512;                  ///< candidates of the sampled softmax
  /// Of embeddings and the sampled softmax: sparse for SyncStep, dense for optimizers of LibTorch
  /// that know no sparse gradients.
  RowGradients row_gradients = RowGradients::sparse;
};

/// Fails: UsageError that names what cannot be.
void check(const Seq2SeqOptions& options);

/// Recurrent encoder and decoder with attention: translation, dialogue.
///
/// Its layers for a pipeline: one for each layer of the encoder, then one for each of the decoder,
/// then attention and output layer. With input feeding the decoder is one layer with the attention;
/// with tied embeddings so is everything that uses them.
///
/// Threads: as torch::nn::Module: one at a time.
/// Fails: UsageError for options that cannot be.
/// Example:
///     Seq2Seq model(Seq2SeqOptions{.hidden = 512, .bidirectional = true});
///     auto [loss, nll] = model->loss(source, source_lengths, target);
class Seq2SeqImpl : public SequenceModel {
 public:
  explicit Seq2SeqImpl(const Seq2SeqOptions& options = {});

  Tensors outputs(const at::Tensor& source, const at::Tensor& lengths,
                  const at::Tensor& target) override;
  std::vector<Layer> layers() override;

  std::unique_ptr<DecoderState> start(const at::Tensor& source, const at::Tensor& lengths) override;
  DecoderStep step(const at::Tensor& tokens, DecoderState& state,
                   WithAttention attention = WithAttention::no) override;
  void use_int8(Int8Products& products) override;

  /// What it was made with.
  const Seq2SeqOptions& options() const { return options_; }

 private:
  struct EncodedSources;  // what the encoder made of the sources
  struct State;           // where the decoder stands

  EncodedSources encode(const at::Tensor& source, const at::Tensor& lengths);
  State begin(EncodedSources sources) const;
  /// Decoder states and attention for inputs [time, batch] given at once: [batch, time, output].
  at::Tensor decode(const at::Tensor& inputs, const at::Tensor& lengths, State& state,
                    at::Tensor* attention);
  at::Tensor decode_at_once(const at::Tensor& embedded, const at::Tensor& lengths, State& state,
                            at::Tensor* attention);
  at::Tensor attend(const at::Tensor& queries, const EncodedSources& sources,
                    at::Tensor* attention);
  RnnResult encoder_layer(std::size_t number, at::Tensor x, const at::Tensor& lengths);
  EncodedSources encoded(const at::Tensor& outputs, const at::Tensor& lengths);
  Tensors decoded(State state, const at::Tensor& target);
  void add_encoder_layers(std::vector<Layer>& layers);
  void add_decoder_layers(std::vector<Layer>& layers);

  const Seq2SeqOptions options_;
  std::vector<RnnLayer> encoder_;
  std::vector<RnnLayer> encoder_back_;  // the other direction
  std::vector<RnnLayer> decoder_;
  Attention attention_{nullptr};
  torch::nn::Linear combine_{nullptr};
  std::shared_ptr<const Int8Linear> int8_combine_;
  FastDropout dropout_{nullptr};
};
TORCH_MODULE(Seq2Seq);

}  // namespace pagoda
