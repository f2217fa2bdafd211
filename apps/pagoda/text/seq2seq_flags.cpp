#include "text/seq2seq_flags.h"

#include "flags/flags.h"

namespace pagoda::app {
namespace {

constexpr double kLabelSmoothing = 0.1;

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

std::vector<LengthBucket> TextFlags::length_buckets() const {
  return buckets.empty() ? std::vector<LengthBucket>{} : parse_buckets(buckets);
}

void add_text_flags(CLI::App& command, TextFlags& flags) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->capture_default_str()->group("Text");
  };
  const auto add_file = [&](const char* name, std::vector<std::string>& value, const char* text) {
    return command.add_option(name, value, text)->group("Text");
  };
  CLI::Option* data =
      add("--data", flags.data,
          "builtin: numbers, dates and times, English to French (default: builtin, unless there "
          "are files)")
          ->check(CLI::IsMember({"builtin"}));
  add_file("--source", flags.source, "text file, plain or .gz, a sentence a line (default: none)")
      ->excludes(data);
  add_file("--target", flags.target, "what each line of --source becomes (default: none)")
      ->excludes(data);
  add_file("--pairs", flags.pairs, "source, tab and target a line, instead")->excludes(data);
  add_file("--conv", flags.conv, "dialogues, each utterance answers the one before, instead")
      ->excludes(data);
  add_file("--valid-source", flags.valid_source,
           "to test with (default: the last pairs of the training text, left out of it)");
  add_file("--valid-target", flags.valid_target, "for --valid-source (default: none)");
  add_file("--valid-pairs", flags.valid_pairs, "to test with, instead");
  add("--on-bad-line", flags.on_bad_line, "a line that cannot be used: error, or skip")
      ->check(CLI::IsMember({"error", "skip"}));
  add("--max-pairs", flags.max_pairs, "train on so many pairs only; 0 on all")
      ->check(whole_number(0, kMostCount));
  add("--max-length", flags.max_length, "tokens of a side; longer pairs are left out")
      ->check(count());
  add("--tokenizer", flags.tokenizer, "how lines become tokens")
      ->check(CLI::IsMember({"sentencepiece", "words", "characters", "jieba"}));
  add("--vocab-size", flags.vocab_size, "tokens, the four special ones included")
      ->check(whole_number(5, 10'000'000));
  command.add_flag("--joint-vocabulary", flags.joint_vocabulary, "one vocabulary for both sides")
      ->group("Text");
  command.add_flag("--lower-case", flags.lower_case, "of the tokenizer words")->group("Text");
  add("--buckets", flags.buckets,
      "source and target lengths such as 5:10,10:15 (default: batches of similar length)");
  add("--batch-tokens", flags.batch_tokens, "tokens of a feed, instead of --batch-size")
      ->check(count());
  add("--bleu-pairs", flags.bleu_pairs, "pairs that are translated at each test, for BLEU")
      ->check(whole_number(0, kMostCount));
  add("--best-by", flags.best_by,
      "what the best checkpoint and early stopping go by; without --bleu-pairs the perplexity")
      ->check(CLI::IsMember({"bleu", "perplexity"}));
}

void add_network_flags(CLI::App& command, NetworkFlags& flags) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->capture_default_str()->group("Model");
  };
  add("--embedding", flags.embedding, "numbers for each token")->check(count());
  add("--hidden", flags.hidden, "units of a layer")->check(count());
  add("--layers", flags.layers, "of encoder and decoder")->check(whole_number(1, 1000));
  add("--cell", flags.cell, "of the layers")->check(CLI::IsMember({"lstm", "gru"}));
  command.add_flag("--bidirectional", flags.bidirectional, "the encoder reads both ways")
      ->group("Model");
  add("--attention", flags.attention, "how the decoder looks back")
      ->check(CLI::IsMember({"luong", "bahdanau"}));
  command
      .add_flag("--input-feeding", flags.input_feeding,
                "the decoder sees what it attended to before; slower")
      ->group("Model");
  add("--dropout", flags.dropout, "part that is dropped")->check(CLI::Range(0.0, 0.99));
  add("--tied", flags.tied, "embeddings that are one: none, output, all")
      ->check(CLI::IsMember({"none", "output", "all"}));
  add("--label-smoothing", flags.label_smoothing,
      "of the full softmax (default: 0.1; none for the sampled one)")
      ->check(CLI::Range(0.0, 0.99));
  add("--softmax", flags.softmax, "of the training; tests take the full one")
      ->check(CLI::IsMember({"full", "sampled"}));
  add("--softmax-samples", flags.softmax_samples, "candidates of the sampled softmax")
      ->check(count());
  add("--row-update", flags.row_update,
      "of embeddings: exact as with dense gradients, or lazy, only the rows of the step")
      ->check(CLI::IsMember({"exact", "lazy"}));
}

Seq2SeqOptions chosen_network(const NetworkFlags& flags, std::int64_t source_vocabulary,
                              std::int64_t target_vocabulary) {
  const bool sampled = flags.softmax == "sampled";
  Seq2SeqOptions options{
      .source_vocabulary = source_vocabulary,
      .target_vocabulary = target_vocabulary,
      .embedding = flags.embedding,
      .hidden = flags.hidden,
      .layers = flags.layers,
      .cell = flags.cell == "gru" ? Cell::gru : Cell::lstm,
      .bidirectional = flags.bidirectional,
      .attention = flags.attention == "bahdanau" ? AttentionKind::bahdanau : AttentionKind::luong,
      .input_feeding = flags.input_feeding,
      .dropout = flags.dropout,
      .label_smoothing = flags.label_smoothing.value_or(sampled ? 0 : kLabelSmoothing),
      .softmax = sampled ? SoftmaxKind::sampled : SoftmaxKind::full,
      .samples = flags.softmax_samples};
  if (flags.tied == "output") options.tied = TiedEmbeddings::output;
  if (flags.tied == "all") options.tied = TiedEmbeddings::all;
  return options;
}

}  // namespace pagoda::app
