#pragma once

#include <pagoda/text/sequence_batches.h>
#include <pagoda/text/text_codec.h>
#include <pagoda/train/data_record.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "seq2seq/seq2seq_flags.h"

namespace pagoda::app {

/// Both sides' tokenizers and vocabularies, as they lie in the directory `vocabulary` of a run.
struct Codecs {
  TextCodec source;
  TextCodec target;
};

/// Fails: IoError or DataError when files are missing or damaged.
Codecs load_codecs(const TextFlags& flags, const std::filesystem::path& directory);

/// Draws other tokens of the same text, for each side.
struct TokenChanges {
  TokenChange source;
  TokenChange target;
};

/// What --subword-sampling asks for, of the vocabularies in that directory; nothing without it.
/// They are SentencePiece models. Fails: as load_codecs.
TokenChanges token_changes(const TextFlags& flags, const std::filesystem::path& directory);

/// What to say of SentencePiece vocabularies that are smaller than asked for; nothing of others.
std::string note_about_size(const TextFlags& flags, const Codecs& codecs);

/// Copies learned vocabularies into a run's directory, whole or not at all.
void keep_vocabularies(const std::filesystem::path& from, const std::filesystem::path& directory);

/// The file of a vocabulary, and whose it is.
struct VocabularyFile {
  PairSide side;
  std::string name;
};
/// One for each side, or one for both.
std::vector<VocabularyFile> vocabulary_files(const TextFlags& flags);

/// Where a run keeps its vocabularies.
std::filesystem::path vocabulary_directory(const std::filesystem::path& run);

/// What the vocabularies in a directory hold. Fails: IoError.
std::vector<DataInput> vocabulary_inputs(const TextFlags& flags,
                                         const std::filesystem::path& directory);

/// Fails: DataError with the difference when a run has a record of other vocabularies: with their
/// lines in another order, its weights would make nonsense.
void check_vocabularies(const std::filesystem::path& run, const std::optional<DataRecord>& record,
                        const std::vector<DataInput>& vocabularies);

/// The tokenizer that the flags ask for; `model` is its file where it has one.
TokenizerOptions tokenizer_options(const TextFlags& flags, const std::filesystem::path& model);

}  // namespace pagoda::app
