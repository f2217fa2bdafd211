#include "seq2seq/seq2seq_flags.h"

#include <pagoda/base/error.h>
#include <pagoda/cli/flag_adder.h>

#include <algorithm>

namespace pagoda::app {
namespace {

constexpr double kLabelSmoothing = 0.1;
const std::vector<std::string> kOnBadLine{"error", "skip"};

/// An option that would do nothing is an error.
void refuse_flags_of_the_other(const NetworkFlags& flags) {
  const NetworkFlags defaults;
  const auto refuse = [&](bool is_given, const char* flag) {
    if (is_given)
      throw UsageError(std::string(flag) + " is not for --architecture " + flags.architecture);
  };
  if (flags.architecture == "transformer") {
    refuse(flags.embedding != defaults.embedding && flags.embedding != flags.hidden, "--embedding");
    refuse(flags.cell != defaults.cell, "--cell");
    refuse(flags.bidirectional, "--bidirectional");
    refuse(flags.attention != defaults.attention, "--attention");
    refuse(flags.input_feeding, "--input-feeding");
  } else {
    refuse(flags.heads != defaults.heads, "--heads");
    refuse(flags.ffn != defaults.ffn, "--ffn");
    refuse(flags.norm != defaults.norm, "--norm");
    refuse(flags.positions != defaults.positions, "--positions");
    refuse(flags.attention_dropout != 0, "--attention-dropout");
    refuse(flags.ffn_dropout != 0, "--ffn-dropout");
  }
}

std::vector<std::filesystem::path> paths(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

PairFiles TextFlags::training_files() const {
  return {
      .source = paths(source), .target = paths(target), .pairs = paths(pairs), .conv = paths(conv)};
}

PairFiles TextFlags::validation_files() const {
  return {
      .source = paths(valid_source), .target = paths(valid_target), .pairs = paths(valid_pairs)};
}

PairReaderOptions TextFlags::reading() const {
  return {.on_bad_line = on_bad_line == "skip" ? OnBadLine::skip : OnBadLine::error};
}

std::int64_t TextFlags::longest_sequence() const {
  return subword_sampling ? 2 * max_length : max_length;  // as SubwordSampler bounds it
}

std::vector<LengthBucket> TextFlags::length_buckets() const {
  return buckets.empty() ? std::vector<LengthBucket>{} : parse_buckets(buckets);
}

void add_text_flags(CLI::App& command, TextFlags& flags) {
  FlagAdder add(command, "Text");
  CLI::Option* data = add.word(
      "--data", flags.data, {"builtin"},
      "builtin: numbers, dates and times, English to French (default: builtin, unless there "
      "are files)");
  add.list("--source", flags.source, "text file, plain or .gz, a sentence a line (default: none)")
      ->excludes(data);
  add.list("--target", flags.target, "what each line of --source becomes (default: none)")
      ->excludes(data);
  add.list("--pairs", flags.pairs, "source, tab and target a line, instead")->excludes(data);
  add.list("--conv", flags.conv, "dialogues, each utterance answers the one before, instead")
      ->excludes(data);
  add.list("--valid-source", flags.valid_source,
           "to validate with (default: the last pairs of the training text, left out of it)");
  add.list("--valid-target", flags.valid_target, "for --valid-source (default: none)");
  add.list("--valid-pairs", flags.valid_pairs, "to validate with, instead");
  add.word("--on-bad-line", flags.on_bad_line, kOnBadLine,
           "a line that cannot be used: error, or skip");
  add.option("--max-pairs", flags.max_pairs, "train on so many pairs only; 0 on all")
      ->check(count_or_none());
  add.count("--max-length", flags.max_length, "tokens of a side; longer pairs are left out");
  add.word("--tokenizer", flags.tokenizer, {"sentencepiece", "words", "characters", "jieba"},
           "how lines become tokens");
  add.option("--vocab-size", flags.vocab_size, "tokens, the four special ones included")
      ->check(whole_number(5, 10'000'000));
  add.flag("--joint-vocabulary", flags.joint_vocabulary, "one vocabulary for both sides");
  add.flag("--lower-case", flags.lower_case, "of the tokenizer words");
  add.option(
         "--subword-sampling", flags.subword_sampling,
         "cut words into other tokens of sentencepiece in every epoch, drawn with this power of "
         "their probabilities: 0.5 seldom, 0.2 often; for little text (default: the best cut "
         "always)")
      ->check(CLI::Range(0.01, 10.0));
  add.option("--buckets", flags.buckets,
             "source and target lengths such as 5:10,10:15 (default: batches of similar length)");
  add.count("--batch-tokens", flags.batch_tokens, "tokens of a feed, instead of --batch-size");
  add.option("--bleu-pairs", flags.bleu_pairs, "pairs that are translated at each test, for BLEU")
      ->check(count_or_none());
  add.word(
      "--best-by", flags.best_by, {"bleu", "perplexity"},
      "what the best checkpoint and early stopping go by; without --bleu-pairs the perplexity");
}

void add_network_flags(CLI::App& command, NetworkFlags& flags) {
  FlagAdder add(command, "Model");
  add.word("--architecture", flags.architecture, {"rnn", "transformer"}, "of encoder and decoder");
  add.count("--embedding", flags.embedding,
            "numbers for each token; with a transformer it is --hidden");
  add.count("--hidden", flags.hidden, "units of a layer");
  add.option("--layers", flags.layers, "of encoder and decoder")->check(whole_number(1, 1000));
  add.count("--heads", flags.heads, "of each attention of a transformer");
  add.count("--ffn", flags.ffn, "units of a transformer's feed-forward blocks");
  add.word("--norm", flags.norm, {"before", "after"},
           "where a transformer normalises: before each block (pre-norm) or after it");
  add.word("--positions", flags.positions, {"sinusoidal", "learnt"}, "of a transformer's tokens");
  add.word("--cell", flags.cell, {"lstm", "gru"}, "of the layers");
  add.flag("--bidirectional", flags.bidirectional, "the encoder reads both ways");
  add.word("--attention", flags.attention, {"luong", "bahdanau"}, "how the decoder looks back");
  add.flag("--input-feeding", flags.input_feeding,
           "the decoder sees what it attended to before; slower");
  add.option("--dropout", flags.dropout, "part that is dropped")->check(CLI::Range(0.0, 0.99));
  add.option("--attention-dropout", flags.attention_dropout, "of a transformer's attention weights")
      ->check(CLI::Range(0.0, 0.99));
  add.option("--ffn-dropout", flags.ffn_dropout, "of a transformer's feed-forward units")
      ->check(CLI::Range(0.0, 0.99));
  add.word("--tied", flags.tied, {"none", "output", "all"},
           "embeddings that are one: none, output, all");
  add.option("--label-smoothing", flags.label_smoothing,
             "of the full softmax (default: 0.1; none for the sampled one)")
      ->check(CLI::Range(0.0, 0.99));
  add.word("--softmax", flags.softmax, {"full", "sampled"},
           "of the training; tests take the full one");
  add.count("--softmax-samples", flags.softmax_samples, "candidates of the sampled softmax");
  add.word("--row-update", flags.row_update, {"exact", "lazy"},
           "of embeddings: exact as with dense gradients, or lazy, only the rows of the step");
}

NetworkOptions chosen_network(const NetworkFlags& flags, const TextSizes& text) {
  refuse_flags_of_the_other(flags);
  const bool sampled = flags.softmax == "sampled";
  const auto shared = [&](auto options) {
    options.source_vocabulary = text.source_vocabulary;
    options.target_vocabulary = text.target_vocabulary;
    options.hidden = flags.hidden;
    options.layers = flags.layers;
    options.dropout = flags.dropout;
    if (flags.tied == "output") options.tied = TiedEmbeddings::output;
    if (flags.tied == "all") options.tied = TiedEmbeddings::all;
    options.label_smoothing = flags.label_smoothing.value_or(sampled ? 0 : kLabelSmoothing);
    options.softmax = sampled ? SoftmaxKind::sampled : SoftmaxKind::full;
    options.samples = flags.softmax_samples;
    return options;
  };
  if (flags.architecture == "transformer") {
    return shared(TransformerOptions{
        .heads = flags.heads,
        .ffn = flags.ffn,
        .norm = flags.norm == "after" ? NormPlace::after : NormPlace::before,
        .positions = flags.positions == "learnt" ? Positions::learnt : Positions::sinusoidal,
        .max_positions = std::max(TransformerOptions{}.max_positions,
                                  text.longest_sequence + 1),  // with what begins a target
        .attention_dropout = flags.attention_dropout,
        .ffn_dropout = flags.ffn_dropout});
  }
  return shared(Seq2SeqOptions{
      .embedding = flags.embedding,
      .cell = flags.cell == "gru" ? Cell::gru : Cell::lstm,
      .bidirectional = flags.bidirectional,
      .attention = flags.attention == "bahdanau" ? AttentionKind::bahdanau : AttentionKind::luong,
      .input_feeding = flags.input_feeding});
}

TextFlags TestTextFlags::over(TextFlags run) const {
  if (!valid_source.empty() || !valid_target.empty() || !valid_pairs.empty()) {
    run.valid_source = valid_source;
    run.valid_target = valid_target;
    run.valid_pairs = valid_pairs;
  }
  run.on_bad_line = on_bad_line.value_or(run.on_bad_line);
  run.bleu_pairs = bleu_pairs.value_or(run.bleu_pairs);
  return run;
}

void add_test_text_flags(CLI::App& command, TestTextFlags& flags) {
  FlagAdder add(command);
  add.list("--valid-source", flags.valid_source,
           "text file, plain or .gz, a sentence a line (default: the run's validation text)");
  add.list("--valid-target", flags.valid_target, "for --valid-source (default: none)");
  add.list("--valid-pairs", flags.valid_pairs, "source, tab and target a line, instead");
  add.word("--on-bad-line", flags.on_bad_line, kOnBadLine,
           "a line that cannot be used: error, or skip (default: the run's)");
  add.option("--bleu-pairs", flags.bleu_pairs,
             "pairs that are translated, for BLEU (default: the run's)")
      ->check(count_or_none());
}

}  // namespace pagoda::app
