#include "seq2seq/seq2seq_measuring.h"

#include <pagoda/cli/flag_adder.h>
#include <pagoda/text/vocabulary.h>

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>

#include "seq2seq/seq2seq_flags.h"

namespace pagoda::app {
namespace {

constexpr double kMaxTowerGradNorm = 5;

SequenceBatch random_sequences(const MadeUpSeq2Seq& flags, std::int64_t count, std::int64_t step,
                               at::Generator& random) {
  const auto tokens = [&](std::int64_t length) {
    return at::randint(kSpecialTokens, flags.vocab_size, {count, length}, random, at::kLong);
  };
  return {.source = tokens(flags.length),
          .source_lengths = at::full({count}, flags.length, at::kLong),
          .target = tokens(flags.length + 1),
          .tokens = static_cast<double>(count * flags.length),
          .step_seed = static_cast<std::uint64_t>(step)};
}

NetworkOptions network_of(const MadeUpSeq2Seq& flags, double dropout) {
  NetworkFlags network;
  network.architecture = flags.architecture;
  network.embedding = flags.hidden;
  network.hidden = flags.hidden;
  network.layers = flags.layers;
  network.heads = flags.heads;
  network.ffn = flags.ffn;
  network.dropout = dropout;
  network.label_smoothing = 0;
  network.softmax = flags.softmax;
  network.softmax_samples = flags.softmax_samples;
  return chosen_network(network, {.source_vocabulary = flags.vocab_size,
                                  .target_vocabulary = flags.vocab_size,
                                  .longest_sequence = flags.length});
}

}  // namespace

void Seq2SeqMeasuring::add_flags(CLI::App& command) {
  FlagAdder add(command, "Model");
  add.word("--architecture", flags_.architecture, {"rnn", "transformer"}, "of encoder and decoder");
  add.option("--vocab-size", flags_.vocab_size, "tokens of either side")
      ->check(whole_number(5, 10'000'000));
  add.count("--hidden", flags_.hidden, "units of a layer, and numbers for each token");
  add.option("--layers", flags_.layers, "of encoder and decoder")->check(whole_number(1, 1000));
  add.count("--heads", flags_.heads, "of each attention of a transformer");
  add.count("--ffn", flags_.ffn, "units of a transformer's feed-forward blocks");
  add.word("--softmax", flags_.softmax, {"full", "sampled"}, "over all tokens, or sampled");
  add.count("--softmax-samples", flags_.softmax_samples, "candidates of the sampled softmax");
  add.word("--row-update", flags_.row_update, {"exact", "lazy"},
           "of embeddings, as for pagoda train seq2seq");
  add.option("--length", flags_.length, "tokens of a source and of a target")
      ->check(whole_number(1, 10'000));
}

BenchLength Seq2SeqMeasuring::bench_length() const {
  return {.steps = 4, .rounds = 5};  // a step takes about a second
}

MadeUpTask<SequenceModelPtr, SequenceBatch> Seq2SeqMeasuring::task() const {
  return {.model =
              [flags = flags_](double dropout) { return make_network(network_of(flags, dropout)); },
          .feed =
              [flags = flags_](std::int64_t samples, std::int64_t step, at::Generator& random) {
                return random_sequences(flags, samples, step, random);
              },
          .join = join_pairs,
          .score = score_pairs,
          .inputs = tensors_of_pairs,
          .score_outputs = score_outputs,
          .step = {.max_tower_grad_norm = kMaxTowerGradNorm,
                   .rows = flags_.row_update == "lazy" ? RowUpdate::lazy : RowUpdate::exact}};
}

SequenceBatch join_pairs(const std::vector<SequenceBatch>& batches) {
  std::vector<at::Tensor> sources, lengths, targets;
  SequenceBatch joined{.step_seed = batches.front().step_seed};
  for (const SequenceBatch& batch : batches) {
    sources.push_back(batch.source);
    lengths.push_back(batch.source_lengths);
    targets.push_back(batch.target);
    joined.tokens += batch.tokens;
  }
  joined.source = at::cat(sources);
  joined.source_lengths = at::cat(lengths);
  joined.target = at::cat(targets);
  return joined;
}

}  // namespace pagoda::app
