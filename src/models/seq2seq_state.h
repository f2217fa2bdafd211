#pragma once

#include <pagoda/models/seq2seq.h>

#include <vector>

namespace pagoda {

/// What the encoder made of the sources.
struct Seq2SeqImpl::EncodedSources {
  at::Tensor memory;             // [batch, places, hidden]
  at::Tensor keys;               // see Attention
  at::Tensor padding;            // [batch, places], true where a source has ended
  std::vector<RnnState> states;  // by layer; where the decoder begins
};

/// Row r belongs to row r of `sources`.
struct Seq2SeqImpl::State : DecoderState {
  EncodedSources sources;
  std::vector<RnnState> layers;
  at::Tensor fed;            // with input feeding
  at::Tensor source_of_row;  // int64, on the host

  void select(const at::Tensor& numbers) override;
};

}  // namespace pagoda
