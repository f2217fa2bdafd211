#pragma once

#include <pagoda/text/text_codec.h>
#include <pagoda/text/token_file.h>

#include <filesystem>
#include <string>
#include <vector>

#include "terminal/console.h"
#include "text/seq2seq_flags.h"

namespace pagoda::app {

/// Both sides' tokenizers and vocabularies, as they lie in the directory `vocabulary` of a run.
struct Codecs {
  TextCodec source;
  TextCodec target;
};

/// Fails: IoError or DataError when files are missing or damaged.
Codecs load_codecs(const TextFlags& flags, const std::filesystem::path& directory);

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

/// All text of a run, as tokens.
struct PreparedText {
  Codecs codecs;
  EncodedText text;         ///< pairs to train on and to test with
  std::string remark = {};  ///< about tokens that were kept before, for the log
  bool is_kept = false;     ///< the tokens lie in the directory that was asked for
};

/// Learns vocabularies from the training text into files of a directory that exists, and encodes
/// all text. With a SentencePiece model the text is read twice, otherwise once.
/// Fails: DataError when nothing is left to train on or to test with.
PreparedText learn_text(const TextFlags& flags, const std::filesystem::path& directory,
                        Console::Format format);

/// Encodes all text with the vocabularies of a directory, or takes the tokens that are kept there,
/// if text, options and vocabularies are still those that they were made of.
/// Fails: as learn_text and load_codecs.
PreparedText load_text(const TextFlags& flags, const std::filesystem::path& directory,
                       Console::Format format);

/// Keeps the tokens in the directory, unless they are there. Fails: IoError.
void keep_tokens(const PreparedText& prepared, const std::filesystem::path& directory);

}  // namespace pagoda::app
