#pragma once

#include <pagoda/models/seq2seq.h>

#include <vector>

namespace pagoda {

/// Row r belongs to row r of `sources`.
struct Seq2SeqImpl::State : DecoderState {
  EncodedSources sources;
  std::vector<RnnState> layers;
  at::Tensor fed;            // with input feeding
  at::Tensor source_of_row;  // int64, on the host

  void select(const at::Tensor& numbers) override;
};

}  // namespace pagoda
