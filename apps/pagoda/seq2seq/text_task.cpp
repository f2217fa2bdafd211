#include "seq2seq/text_task.h"

#include <pagoda/base/error.h>
#include <pagoda/terminal/text_table.h>
#include <pagoda/text/builtin_pairs.h>
#include <pagoda/text/held_out_pairs.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>

#include "seq2seq/kept_tokens.h"
#include "seq2seq/learning_memory.h"
#include "seq2seq/reading_progress.h"

namespace pagoda::app {
namespace {

constexpr std::int64_t kBuiltinTestPairs = 500;
constexpr std::int64_t kBuiltinTokenLines = 20'000;  // all its words are in them many times

/// The first pairs of another reader.
class FirstPairs : public PairReader {
 public:
  FirstPairs(std::unique_ptr<PairReader> pairs, std::int64_t count)
      : pairs_(std::move(pairs)), left_(count) {}

  std::optional<TextPair> next() override { return left_-- > 0 ? pairs_->next() : std::nullopt; }
  const PairReport& report() const override { return pairs_->report(); }
  std::int64_t bytes_read() const override { return pairs_->bytes_read(); }
  std::vector<DataInput> inputs() const override { return pairs_->inputs(); }

 private:
  const std::unique_ptr<PairReader> pairs_;
  std::int64_t left_;
};

/// The pairs of another reader, and the text of the first of them.
class RememberedPairs : public PairReader {
 public:
  RememberedPairs(PairReader& pairs, std::int64_t count) : pairs_(pairs), left_(count) {}

  std::optional<TextPair> next() override {
    const auto pair = pairs_.next();
    if (pair && left_-- > 0) {
      sources.emplace_back(pair->source);
      references.emplace_back(pair->target);
    }
    return pair;
  }
  const PairReport& report() const override { return pairs_.report(); }
  std::vector<DataInput> inputs() const override { return pairs_.inputs(); }

  std::vector<std::string> sources;
  std::vector<std::string> references;

 private:
  PairReader& pairs_;
  std::int64_t left_;
};

/// The training text, read once; what is held out of it is the validation text where none is given.
class TextSource {
 public:
  TextSource(const TextFlags& flags, LogFormat format) : flags_(flags), format_(format) {}

  /// The training text from its start; `what` is done with it. Valid until the next call.
  PairReader& training(const std::string& what) {
    const PairFiles files = flags_.training_files();
    const std::int64_t most =
        flags_.max_pairs > 0 ? flags_.max_pairs : std::numeric_limits<std::int64_t>::max();
    if (files.empty()) {
      training_ = open_builtin_pairs(BuiltinSplit::train, std::min(most, kBuiltinPairs));
      return *training_;
    }
    auto pairs = with_progress(open_pairs(files, flags_.reading()), files, what, format_);
    if (!flags_.validation_files().empty()) {
      training_ = std::make_unique<FirstPairs>(std::move(pairs), most);
    } else {
      auto held_out = std::make_unique<HeldOutPairs>(std::move(pairs), most);
      held_out_ = held_out.get();
      training_ = std::move(held_out);
    }
    return *training_;
  }

  /// The text to test with, after the training text was read to its end.
  std::unique_ptr<PairReader> validation() const {
    const PairFiles files = flags_.validation_files();
    if (!files.empty()) {
      return with_progress(open_pairs(files, flags_.reading()), files,
                           "reading the validation text", format_);
    }
    if (held_out_ != nullptr) return read_pairs(held_out_->take_held_out());
    return open_builtin_pairs(BuiltinSplit::test, kBuiltinTestPairs);
  }

 private:
  const TextFlags& flags_;
  const LogFormat format_;
  std::unique_ptr<PairReader> training_;
  HeldOutPairs* held_out_ = nullptr;  // training_, where pairs are held out
};

constexpr const char* kReading = "reading the training text";

EncodeOptions lengths(const TextFlags& flags) {
  return {.max_source_tokens = flags.max_length, .max_target_tokens = flags.max_length};
}

/// What became of a set of files. Fails: DataError when nothing is left.
std::string note_about(const char* what, const PairReport& report, const EncodedPairs& encoded) {
  if (encoded.pairs.size() == 0) {
    throw DataError(std::string("there is no pair for ") + what +
                    "; give more text, or a larger --max-length");
  }
  std::string line = std::string(what) + ": " + report.text();
  if (encoded.too_long > 0) line += "; " + counted(encoded.too_long, "pair") + " too long";
  if (encoded.unknown_tokens > 0) {
    line += "; " +
            grouped(100.0 * static_cast<double>(encoded.unknown_tokens) /
                        static_cast<double>(encoded.tokens),
                    2) +
            " % unknown tokens";
  }
  return line;
}

/// Training text as tokens, and what must be known of it.
struct TrainingText {
  EncodedPairs encoded;
  std::string note;
  std::vector<DataInput> inputs;

  TrainingText(EncodedPairs pairs, const PairReader& reader)
      : encoded(std::move(pairs)),
        note(note_about("training", reader.report(), encoded)),
        inputs(reader.inputs()) {}
};

/// Text to test with as tokens, and what it was read from.
struct ValidationText {
  EncodedText text;
  std::vector<DataInput> inputs;
};

ValidationText encoded_validation(const TextFlags& flags, PairReader& pairs, const Codecs& codecs) {
  RememberedPairs remembered(pairs, flags.bleu_pairs);
  EncodedPairs valid = encode_pairs(remembered, codecs.source, codecs.target, lengths(flags));
  std::string note = note_about("validation", remembered.report(), valid);
  std::vector<DataInput> inputs = remembered.inputs();
  for (DataInput& input : inputs) input.role = "valid-" + input.role;
  return {.text = {.notes = {std::move(note)},
                   .valid = std::move(valid.pairs),
                   .sources = std::move(remembered.sources),
                   .references = std::move(remembered.references)},
          .inputs = std::move(inputs)};
}

/// With the text to test with, after the training text.
PreparedText with_validation(const TextFlags& flags, TextSource& source, Codecs codecs,
                             TrainingText train) {
  auto [text, inputs] = encoded_validation(flags, *source.validation(), codecs);
  text.notes.insert(text.notes.begin(), std::move(train.note));
  text.train = std::move(train.encoded.pairs);
  train.inputs.insert(train.inputs.end(), inputs.begin(), inputs.end());
  return {.codecs = std::move(codecs), .text = std::move(text), .inputs = std::move(train.inputs)};
}

PreparedText encoded_text(const TextFlags& flags, TextSource& text, Codecs codecs) {
  PairReader& pairs = text.training(kReading);
  EncodedPairs train = encode_pairs(pairs, codecs.source, codecs.target, lengths(flags));
  return with_validation(flags, text, std::move(codecs), {std::move(train), pairs});
}

PreparedText learned_words(const TextFlags& flags, TextSource& text,
                           const std::filesystem::path& directory) {
  PairReader& pairs = text.training(kReading);
  LearnedPairs learned = learn_pairs(pairs, *make_tokenizer(tokenizer_options(flags, {})),
                                     flags.joint_vocabulary ? Sides::joint : Sides::separate,
                                     static_cast<TokenId>(flags.vocab_size), lengths(flags));
  for (const auto& [side, name] : vocabulary_files(flags)) {
    (side == PairSide::target ? learned.target : learned.source).save(directory / name);
  }
  return with_validation(flags, text, load_codecs(flags, directory),
                         {std::move(learned.encoded), pairs});
}

/// Fails: UsageError for text that can be read once only.
void refuse_pipes(const PairFiles& files) {
  for (const auto* group : {&files.source, &files.target, &files.pairs, &files.conv}) {
    for (const auto& file : *group) {
      if (std::error_code ignored; !std::filesystem::is_fifo(file, ignored)) continue;
      throw UsageError(file.string() + " is a pipe, and a SentencePiece model is learnt in a " +
                       "reading of its own; write the text to a file first, or take another " +
                       "--tokenizer");
    }
  }
}

PreparedText learned_pieces(const TextFlags& flags, TextSource& text,
                            const std::filesystem::path& directory) {
  SentencePieceTraining options{.vocab_size = static_cast<TokenId>(flags.vocab_size)};
  const PairFiles text_files = flags.training_files();
  if (text_files.empty()) options.max_lines = kBuiltinTokenLines;
  refuse_pipes(text_files);
  const auto files = vocabulary_files(flags);
  PairReader& pairs = text.training("learning tokens of the training text");
  {
    const EndWithoutMemory guard;
    if (flags.joint_vocabulary) {
      train_sentencepiece(pairs, PairSide::both, directory / files.front().name, options);
    } else {
      train_sentencepiece(pairs, directory / files.front().name, directory / files.back().name,
                          options);
    }
  }
  return encoded_text(flags, text, load_codecs(flags, directory));
}

}  // namespace

PreparedText learn_text(const TextFlags& flags, const std::filesystem::path& directory,
                        LogFormat format) {
  const std::string files = file_inputs(flags);  // as they are before they are read
  TextSource source(flags, format);
  PreparedText prepared = flags.tokenizer == "sentencepiece"
                              ? learned_pieces(flags, source, directory)
                              : learned_words(flags, source, directory);
  const auto vocabularies = vocabulary_inputs(flags, directory);
  prepared.text.inputs = with_vocabularies(files, vocabularies);
  prepared.inputs.insert(prepared.inputs.end(), vocabularies.begin(), vocabularies.end());
  return prepared;
}

PreparedText load_text(const TextFlags& flags, const std::filesystem::path& run, LogFormat format) {
  const auto directory = vocabulary_directory(run);
  const auto record = read_data_record(run);
  const auto vocabularies = vocabulary_inputs(flags, directory);
  check_vocabularies(run, record, vocabularies);
  Codecs codecs = load_codecs(flags, directory);
  std::string inputs = with_vocabularies(file_inputs(flags), vocabularies);
  // Without a record the text is read again, to make one.
  KeptTokens kept = record ? read_kept_tokens(directory, inputs) : KeptTokens{};
  if (kept.text) {
    return {.codecs = std::move(codecs),
            .text = std::move(*kept.text),
            .inputs = record->inputs,
            .remark = std::move(kept.remark),
            .is_kept = true};
  }
  TextSource source(flags, format);
  PreparedText prepared = encoded_text(flags, source, std::move(codecs));
  prepared.remark = std::move(kept.remark);
  prepared.text.inputs = std::move(inputs);
  prepared.inputs.insert(prepared.inputs.end(), vocabularies.begin(), vocabularies.end());
  return prepared;
}

EncodedText load_validation_text(const TextFlags& flags, const std::filesystem::path& run,
                                 const Codecs& codecs) {
  if (flags.training_files().empty() || !flags.validation_files().empty()) {
    const TextSource source(flags, LogFormat::text);
    return encoded_validation(flags, *source.validation(), codecs).text;
  }
  PreparedText prepared = load_text(flags, run, LogFormat::text);
  const auto record = read_data_record(run);
  if (const auto list = record ? data_differences(*record, prepared.record()) : ""; !list.empty()) {
    throw DataError("the text of " + run.string() + " has changed (" + list +
                    "), so that what was held out of it is not known; restore it, or give text " +
                    "to test with, such as --valid-pairs");
  }
  return std::move(prepared.text);
}

DataRecord PreparedText::record() const {
  return {.inputs = inputs,
          .counts = {{"train-pairs", text.train.size()}, {"valid-pairs", text.valid.size()}}};
}

void keep_tokens(const PreparedText& prepared, const std::filesystem::path& directory) {
  if (prepared.is_kept || prepared.text.inputs.empty()) return;
  try {
    write_token_file(kept_token_file(directory), prepared.text);
  } catch (const IoError& error) {  // the run can do without it
    std::fprintf(stderr, "pagoda: warning: the text's tokens are not kept for the next start: %s\n",
                 error.what());
  }
}

}  // namespace pagoda::app
