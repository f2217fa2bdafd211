#pragma once

#include <pagoda/models/transformer.h>
#include <pagoda/text/sequence_batches.h>

#include <string>

#include "model/made_up_measuring.h"
#include "seq2seq/seq2seq_loss.h"

namespace pagoda::app {

/// The model, which has embeddings of the hidden size, and its sequences.
struct MadeUpSeq2Seq {
  std::string architecture = "rnn";
  std::int64_t vocab_size = 20'000;
  std::int64_t hidden = 256;
  std::int64_t heads = TransformerOptions{}.heads;
  std::int64_t ffn = TransformerOptions{}.ffn;
  std::int64_t layers = 2;
  std::string softmax = "full";
  std::int64_t softmax_samples = 512;
  std::string row_update = "exact";
  std::int64_t length = 20;
};

/// The seq2seq model on random sequences of one length; `pagoda bench` clips each tower's gradient
/// to 5.
class Seq2SeqMeasuring : public MadeUpMeasuring<SequenceModelPtr, SequenceBatch> {
 public:
  void add_flags(CLI::App& command) override;
  BenchLength bench_length() const override;

 private:
  MadeUpTask<SequenceModelPtr, SequenceBatch> task() const override;

  MadeUpSeq2Seq flags_;
};

/// These pairs as one batch; all must be of the same lengths, as made-up ones are.
SequenceBatch join_pairs(const std::vector<SequenceBatch>& batches);

}  // namespace pagoda::app
