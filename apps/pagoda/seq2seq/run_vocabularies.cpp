#include "seq2seq/run_vocabularies.h"

#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/text/subword_sampler.h>

#include <algorithm>

namespace pagoda::app {
namespace {

constexpr const char* kVocabularyRole = "vocabulary";

TextCodec load_codec(const TextFlags& flags, const std::filesystem::path& file) {
  const auto tokenizer =
      std::shared_ptr<const Tokenizer>(make_tokenizer(tokenizer_options(flags, file)));
  return {tokenizer, flags.tokenizer == "sentencepiece" ? sentencepiece_vocabulary(file)
                                                        : Vocabulary::load(file)};
}

}  // namespace

TokenizerOptions tokenizer_options(const TextFlags& flags, const std::filesystem::path& model) {
  return {.kind = tokenizer_kind(flags.tokenizer),
          .model = model,
          .words = {.lower_case = flags.lower_case}};
}

std::vector<VocabularyFile> vocabulary_files(const TextFlags& flags) {
  const std::string suffix = flags.tokenizer == "sentencepiece" ? ".model" : ".txt";
  if (flags.joint_vocabulary) return {{PairSide::both, "joint" + suffix}};
  return {{PairSide::source, "source" + suffix}, {PairSide::target, "target" + suffix}};
}

Codecs load_codecs(const TextFlags& flags, const std::filesystem::path& directory) {
  const auto files = vocabulary_files(flags);
  return {load_codec(flags, directory / files.front().name),
          load_codec(flags, directory / files.back().name)};
}

TokenChanges token_changes(const TextFlags& flags, const std::filesystem::path& directory) {
  if (!flags.subword_sampling) return {};
  const auto files = vocabulary_files(flags);
  const auto sampler = [&](const VocabularyFile& file) {
    return SubwordSampler(directory / file.name, *flags.subword_sampling);
  };
  return {.source = sampler(files.front()), .target = sampler(files.back())};
}

std::string note_about_size(const TextFlags& flags, const Codecs& codecs) {
  const std::int64_t source = codecs.source.vocabulary().size();
  const std::int64_t target = codecs.target.vocabulary().size();
  if (flags.tokenizer != "sentencepiece" || std::min(source, target) >= flags.vocab_size) return "";
  const std::string sizes = flags.joint_vocabulary ? "the vocabulary has " + grouped(source)
                                                   : "the vocabularies have " + grouped(source) +
                                                         " and " + grouped(target);
  return sizes + " tokens, not " + grouped(flags.vocab_size) + ": the text has no more";
}

std::filesystem::path vocabulary_directory(const std::filesystem::path& run) {
  return run / "vocabulary";
}

std::vector<DataInput> vocabulary_inputs(const TextFlags& flags,
                                         const std::filesystem::path& directory) {
  std::vector<DataInput> inputs;
  for (const auto& file : vocabulary_files(flags)) {
    auto& input = inputs.emplace_back(DataInput{.role = kVocabularyRole, .name = file.name});
    add_content(input, read_whole_file(directory / file.name));
  }
  return inputs;
}

void check_vocabularies(const std::filesystem::path& run, const std::optional<DataRecord>& record,
                        const std::vector<DataInput>& vocabularies) {
  if (!record) return;
  const std::string list =
      data_differences({.inputs = record->of_role(kVocabularyRole)}, {.inputs = vocabularies});
  if (!list.empty()) {
    throw DataError(vocabulary_directory(run).string() +
                    " has changed since the run began, and with it the meaning of all tokens (" +
                    list + "); restore the file, or train anew");
  }
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

}  // namespace pagoda::app
