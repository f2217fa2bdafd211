#include "text/text_task.h"

#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/text/builtin_pairs.h>

#include <algorithm>
#include <limits>

#include "terminal/text_table.h"

namespace pagoda::app {
namespace {

constexpr std::int64_t kBuiltinTestPairs = 500;

/// Leaves out, or keeps only, the pairs that are held out where no validation files are given:
/// every pair of the last 1,000, or of the last twentieth of a small text.
struct Split {
  std::int64_t first = 0;
  std::int64_t last = std::numeric_limits<std::int64_t>::max();  // one past
};

/// The pairs [first, last) of another reader.
class PartOfPairs : public PairReader {
 public:
  PartOfPairs(std::unique_ptr<PairReader> pairs, const Split& split)
      : pairs_(std::move(pairs)), split_(split) {}

  std::optional<TextPair> next() override {
    while (number_ < split_.last) {
      const auto pair = pairs_->next();
      report_ = pairs_->report();
      report_.pairs -= std::min(report_.pairs, split_.first);
      if (!pair) break;
      if (number_++ >= split_.first) return pair;
    }
    return std::nullopt;
  }

 private:
  std::unique_ptr<PairReader> pairs_;
  Split split_;
  std::int64_t number_ = 0;
};

bool has_validation(const TextFlags& flags) { return !flags.validation_files().empty(); }

std::int64_t count_pairs(PairReader& pairs) {
  std::int64_t count = 0;
  while (pairs.next()) ++count;
  return count;
}

/// Pairs of the training text that are held out.
std::int64_t held_out(std::int64_t pairs) { return std::min<std::int64_t>(1000, pairs / 20); }

Split training_split(const TextFlags& flags, std::int64_t pairs) {
  Split split{.first = 0, .last = has_validation(flags) ? pairs : pairs - held_out(pairs)};
  if (flags.max_pairs > 0) split.last = std::min(split.last, flags.max_pairs);
  return split;
}

std::unique_ptr<PairReader> open_training(const TextFlags& flags) {
  const PairFiles files = flags.training_files();
  if (files.empty()) {
    return open_builtin_pairs(BuiltinSplit::train,
                              flags.max_pairs > 0 ? flags.max_pairs : kBuiltinPairs);
  }
  const std::int64_t pairs = has_validation(flags)
                                 ? std::numeric_limits<std::int64_t>::max()
                                 : count_pairs(*open_pairs(files, flags.reading()));
  return std::make_unique<PartOfPairs>(open_pairs(files, flags.reading()),
                                       training_split(flags, pairs));
}

std::unique_ptr<PairReader> open_validation(const TextFlags& flags) {
  if (has_validation(flags)) return open_pairs(flags.validation_files(), flags.reading());
  const PairFiles files = flags.training_files();
  if (files.empty()) return open_builtin_pairs(BuiltinSplit::test, kBuiltinTestPairs);
  const std::int64_t pairs = count_pairs(*open_pairs(files, flags.reading()));
  return std::make_unique<PartOfPairs>(open_pairs(files, flags.reading()),
                                       Split{.first = pairs - held_out(pairs), .last = pairs});
}

/// The files of one side.
struct VocabularyFile {
  PairSide side;
  std::string name;
};

std::vector<VocabularyFile> vocabulary_files(const TextFlags& flags) {
  const std::string suffix = flags.tokenizer == "sentencepiece" ? ".model" : ".txt";
  if (flags.joint_vocabulary) return {{PairSide::both, "joint" + suffix}};
  return {{PairSide::source, "source" + suffix}, {PairSide::target, "target" + suffix}};
}

TokenizerOptions tokenizer_options(const TextFlags& flags, const std::filesystem::path& model) {
  return {.kind = tokenizer_kind(flags.tokenizer),
          .model = model,
          .words = {.lower_case = flags.lower_case}};
}

TextCodec load_codec(const TextFlags& flags, const std::filesystem::path& file) {
  const auto tokenizer =
      std::shared_ptr<const Tokenizer>(make_tokenizer(tokenizer_options(flags, file)));
  return {tokenizer, flags.tokenizer == "sentencepiece" ? sentencepiece_vocabulary(file)
                                                        : Vocabulary::load(file)};
}

EncodedPairs encoded(const TextFlags& flags, const Codecs& codecs, PairReader& pairs,
                     const char* what, const std::function<void(const std::string&)>& say) {
  EncodedPairs result =
      encode_pairs(pairs, codecs.source, codecs.target,
                   {.max_source_tokens = flags.max_length, .max_target_tokens = flags.max_length});
  std::string line = std::string(what) + ": " + pairs.report().text();
  if (result.too_long > 0) line += "; " + counted(result.too_long, "pair") + " too long";
  if (result.unknown_tokens > 0) {
    line += "; " +
            grouped(100.0 * static_cast<double>(result.unknown_tokens) /
                        static_cast<double>(result.tokens),
                    2) +
            " % unknown tokens";
  }
  say(line);
  if (result.pairs.size() == 0) {
    throw DataError(std::string("there is no pair for ") + what +
                    "; give more text, or a larger --max-length");
  }
  return result;
}

}  // namespace

void learn_vocabularies(const TextFlags& flags, const std::filesystem::path& directory) {
  const auto size = static_cast<TokenId>(flags.vocab_size);
  for (const auto& [side, name] : vocabulary_files(flags)) {
    const auto pairs = open_training(flags);
    if (flags.tokenizer == "sentencepiece") {
      train_sentencepiece(*pairs, side, directory / name, {.vocab_size = size});
    } else {
      count_vocabulary(*pairs, side, *make_tokenizer(tokenizer_options(flags, {})), size)
          .save(directory / name);
    }
  }
}

Codecs load_codecs(const TextFlags& flags, const std::filesystem::path& directory) {
  const auto files = vocabulary_files(flags);
  return {load_codec(flags, directory / files.front().name),
          load_codec(flags, directory / files.back().name)};
}

void keep_vocabularies(const std::filesystem::path& from, const std::filesystem::path& directory) {
  const std::filesystem::path unfinished = directory.string() + ".tmp";
  std::filesystem::remove_all(unfinished);
  std::filesystem::create_directories(unfinished);
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    AtomicFile file(unfinished / entry.path().filename());
    file.write(read_whole_file(entry.path()));
    file.commit();
  }
  std::filesystem::rename(unfinished, directory);
}

TextTask load_text(const TextFlags& flags, const Codecs& codecs,
                   const std::function<void(const std::string&)>& say) {
  TextTask task;
  task.train = encoded(flags, codecs, *open_training(flags), "training", say).pairs;
  task.valid = encoded(flags, codecs, *open_validation(flags), "validation", say).pairs;
  const auto pairs = open_validation(flags);
  while (static_cast<std::int64_t>(task.sources.size()) < flags.bleu_pairs) {
    const auto pair = pairs->next();
    if (!pair) break;
    task.sources.emplace_back(pair->source);
    task.references.emplace_back(pair->target);
  }
  return task;
}

}  // namespace pagoda::app
