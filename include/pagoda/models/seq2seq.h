#pragma once

#include <pagoda/models/attention.h>
#include <pagoda/models/rnn_layer.h>
#include <pagoda/models/softmax_loss.h>
#include <pagoda/params/layer.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

namespace pagoda {

/// Which matrices are one and the same.
enum class TiedEmbeddings {
  none,
  output,  ///< the target's embedding is the output layer
  all,     ///< the source's too, which takes one vocabulary for both
};

enum class SoftmaxKind {
  full,
  sampled,  ///< in training; evaluation always takes the full one
};

struct Seq2SeqOptions {
  std::int64_t source_vocabulary = 8000;
  std::int64_t target_vocabulary = 8000;
  std::int64_t embedding = 256;
  std::int64_t hidden = 256;  ///< of encoder and decoder; halved for each direction of the encoder
  std::int64_t layers = 1;
  Cell cell = Cell::lstm;
  bool bidirectional = false;  ///< the encoder reads both ways
  AttentionKind attention = AttentionKind::luong;
  /// The decoder sees what it attended to one step before. It then runs step by step, which is
  /// slower than whole sequences.
  bool input_feeding = false;
  double dropout =
      0;  ///< of embeddings, between layers and before the output; 1 - keep probability
  TiedEmbeddings tied = TiedEmbeddings::none;
  double label_smoothing = 0;  ///< for the full softmax
  SoftmaxKind softmax = SoftmaxKind::full;
  std::int64_t samples = 512;  ///< candidates of the sampled softmax
  /// Of embeddings and the sampled softmax: sparse for SyncStep, dense for optimizers of LibTorch
  /// that know no sparse gradients.
  RowGradients row_gradients = RowGradients::sparse;
};

/// Fails: UsageError that names what cannot be.
void check(const Seq2SeqOptions& options);

/// What the encoder made of the sources.
struct EncodedSources {
  at::Tensor memory;             ///< [batch, places, hidden]
  at::Tensor keys;               ///< see Attention
  at::Tensor padding;            ///< [batch, places], true where a source has ended
  std::vector<RnnState> states;  ///< by layer; where the decoder begins
};

/// Where a decoder stands, for any number of rows; row r belongs to row r of `sources`.
struct DecoderState {
  EncodedSources sources;
  std::vector<RnnState> layers;
  at::Tensor fed;  ///< with input feeding

  /// The rows with these numbers, repeated or left out as wanted.
  DecoderState rows(const at::Tensor& numbers) const;
  /// Each row goes on from the row with that number, which has the same source: the sources are not
  /// copied.
  void continue_from(const at::Tensor& numbers);
};

struct DecoderStep {
  at::Tensor log_probabilities;  ///< [rows, target vocabulary]
  at::Tensor attention;          ///< [rows, places]
};

/// Encoder and decoder with attention: translation, dialogue.
///
/// Sequences are rows of int64 tokens; token 0 fills them up and never counts. A target begins with
/// the token that starts a decoder and ends with the one that ends it.
///
/// Written for one device; see SyncStep for many.
/// Threads: as torch::nn::Module: one at a time.
/// Fails: UsageError for options that cannot be.
/// Example:
///     Seq2Seq model(Seq2SeqOptions{.hidden = 512, .bidirectional = true});
///     auto [loss, nll] = model->loss(source, source_lengths, target);
class Seq2SeqImpl : public torch::nn::Module {
 public:
  explicit Seq2SeqImpl(const Seq2SeqOptions& options = {});

  /// Mean loss over the target tokens (the first of each row excepted, which is given).
  /// `source` [batch, places], `lengths` [batch], `target` [batch, tokens].
  /// `candidates` are needed in training with the sampled softmax.
  SoftmaxLoss loss(const at::Tensor& source, const at::Tensor& lengths, const at::Tensor& target,
                   const Candidates& candidates = {});

  /// The same for a pipeline: layers that take {source, lengths, target} and give what `softmax`
  /// takes. One for each layer of the encoder, then one for each of the decoder, then attention and
  /// output layer. With input feeding the decoder is one layer with the attention; with tied
  /// embeddings so is everything that uses them. They refer to the model.
  std::vector<Layer> layers();

  /// The loss of what the last layer gave.
  SoftmaxLoss softmax(const Tensors& outputs, const Candidates& candidates = {});

  EncodedSources encode(const at::Tensor& source, const at::Tensor& lengths);

  DecoderState start(EncodedSources sources) const;
  /// Feeds one token [rows] to each row and moves `state` on.
  DecoderStep step(const at::Tensor& tokens, DecoderState& state);

  const Seq2SeqOptions& options() const { return options_; }

 private:
  /// Decoder states and attention for inputs [time, batch] given at once: [batch, time, output].
  at::Tensor decode(const at::Tensor& inputs, const at::Tensor& lengths, DecoderState& state,
                    at::Tensor* attention);
  at::Tensor decode_at_once(const at::Tensor& embedded, const at::Tensor& lengths,
                            DecoderState& state, at::Tensor* attention);
  at::Tensor attend(const at::Tensor& queries, const EncodedSources& sources,
                    at::Tensor* attention);
  OutputLayer output() const;
  RnnResult encoder_layer(std::size_t number, at::Tensor x, const at::Tensor& lengths);
  EncodedSources encoded(const at::Tensor& outputs, const at::Tensor& lengths);
  Tensors decoded(DecoderState state, const at::Tensor& target);
  void add_encoder_layers(std::vector<Layer>& layers);
  void add_decoder_layers(std::vector<Layer>& layers);

  const Seq2SeqOptions options_;
  torch::nn::Embedding source_embedding_{nullptr};
  torch::nn::Embedding target_embedding_{nullptr};
  std::vector<RnnLayer> encoder_;
  std::vector<RnnLayer> encoder_back_;  // the other direction
  std::vector<RnnLayer> decoder_;
  Attention attention_{nullptr};
  torch::nn::Linear combine_{nullptr};
  torch::nn::Dropout dropout_{nullptr};
  at::Tensor output_weight_;  // undefined when tied
  at::Tensor output_bias_;
};
TORCH_MODULE(Seq2Seq);

}  // namespace pagoda
