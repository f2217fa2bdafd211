#include "bench/seq2seq_bench.h"

#include <pagoda/cli/flag_adder.h>
#include <pagoda/text/vocabulary.h>

#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>

#include "bench/tower_bench.h"
#include "text/seq2seq_loss.h"

namespace pagoda::app {
namespace {

constexpr double kMaxTowerGradNorm = 5;

SequenceBatch random_sequences(const Seq2SeqBenchFlags& flags, std::int64_t count,
                               std::int64_t step) {
  const auto tokens = [&](std::int64_t length) {
    return at::randint(kSpecialTokens, flags.vocab_size, {count, length}, at::kLong);
  };
  return {.source = tokens(flags.length),
          .source_lengths = at::full({count}, flags.length, at::kLong),
          .target = tokens(flags.length + 1),
          .tokens = static_cast<double>(count * flags.length),
          .step_seed = static_cast<std::uint64_t>(step)};
}

}  // namespace

void add_seq2seq_bench_flags(CLI::App& command, Seq2SeqBenchFlags& flags) {
  FlagAdder add(command, "Model");
  add.option("--vocab-size", flags.vocab_size, "tokens of either side")
      ->check(whole_number(5, 10'000'000));
  add.count("--hidden", flags.hidden, "units of a layer, and numbers for each token");
  add.option("--layers", flags.layers, "LSTM layers of encoder and decoder")
      ->check(whole_number(1, 1000));
  add.word("--softmax", flags.softmax, {"full", "sampled"}, "over all tokens, or sampled");
  add.count("--softmax-samples", flags.softmax_samples, "candidates of the sampled softmax");
  add.word("--row-update", flags.row_update, {"exact", "lazy"},
           "of embeddings, as for pagoda train seq2seq");
  add.option("--length", flags.length, "tokens of a source and of a target")
      ->check(whole_number(1, 10'000));
}

Seq2SeqOptions seq2seq_bench_model(const Seq2SeqBenchFlags& flags) {
  return {.source_vocabulary = flags.vocab_size,
          .target_vocabulary = flags.vocab_size,
          .embedding = flags.hidden,
          .hidden = flags.hidden,
          .layers = flags.layers,
          .softmax = flags.softmax == "sampled" ? SoftmaxKind::sampled : SoftmaxKind::full,
          .samples = flags.softmax_samples};
}

std::unique_ptr<Bench> make_seq2seq_bench(const std::vector<Device>& devices,
                                          const BenchOptions& options,
                                          const Seq2SeqBenchFlags& flags) {
  const Seq2SeqOptions model = seq2seq_bench_model(flags);
  return std::make_unique<TowerBench<Seq2Seq, SequenceBatch>>(
      devices, options,
      BenchTask<Seq2Seq, SequenceBatch>{
          .model = [model] { return Seq2Seq(model); },
          .feed = [flags](std::int64_t samples,
                          std::int64_t step) { return random_sequences(flags, samples, step); },
          .score = score_pairs,
          .inputs = tensors_of_pairs,
          .score_outputs = score_outputs,
          .step = {.max_tower_grad_norm = kMaxTowerGradNorm,
                   .rows = flags.row_update == "lazy" ? RowUpdate::lazy : RowUpdate::exact}});
}

}  // namespace pagoda::app
