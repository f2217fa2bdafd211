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
  std::int64_t embedding = 256;           ///< size of a token's embedding
  /// Size of encoder and decoder states; each direction of a bidirectional encoder has half of it.
  std::int64_t hidden = 256;
  std::int64_t layers = 1;                         ///< of the encoder, and of the decoder
  Cell cell = Cell::lstm;                          ///< kind of the recurrent layers
  bool bidirectional = false;                      ///< the encoder reads in both directions
  AttentionKind attention = AttentionKind::luong;  ///< how the decoder attends to the source
  /// Feed the attention result of each step to the decoder at the next step. Training then runs
  /// step by step, which is slower than whole sequences at once.
  bool input_feeding = false;
  double dropout = 0;  ///< probability; on embeddings, between layers and before the output
  TiedEmbeddings tied = TiedEmbeddings::none;  ///< which matrices are shared
  double label_smoothing = 0;                  ///< in training; only with the full softmax
  SoftmaxKind softmax = SoftmaxKind::full;     ///< in training
  std::int64_t samples = 512;                  ///< candidates of the sampled softmax
  /// Gradients of embeddings and sampled softmax: sparse for SyncStep, dense for LibTorch
  /// optimizers without support for sparse gradients.
  RowGradients row_gradients = RowGradients::sparse;
};

/// Checks the options. Fails: UsageError that names the invalid one.
void check(const Seq2SeqOptions& options);

/// A recurrent encoder and decoder with attention, for translation or dialogue.
///
/// Its layers for a pipeline are the layers of the encoder, those of the decoder, and one for
/// attention and output. With input feeding or a tied output, decoder, attention and output are one
/// layer; with all embeddings tied, the whole model is one.
///
/// Threads: as torch::nn::Module: one at a time.
/// Fails: UsageError for invalid options.
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

  /// The options it was made with.
  const Seq2SeqOptions& options() const { return options_; }

 private:
  struct EncodedSources;  // the encoder's results
  struct State;           // the decoder's state

  EncodedSources encode(const at::Tensor& source, const at::Tensor& lengths);
  State begin(EncodedSources sources) const;
  /// The decoder's outputs, with attention, for inputs [time, batch]: [batch, time, output].
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
  std::vector<RnnLayer> encoder_back_;  // the backward direction
  std::vector<RnnLayer> decoder_;
  Attention attention_{nullptr};
  torch::nn::Linear combine_{nullptr};
  std::shared_ptr<const Int8Linear> int8_combine_;
  FastDropout dropout_{nullptr};
};
TORCH_MODULE(Seq2Seq);

}  // namespace pagoda
