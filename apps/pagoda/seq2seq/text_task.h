#pragma once

#include <pagoda/terminal/console.h>
#include <pagoda/text/token_file.h>
#include <pagoda/train/data_record.h>

#include <filesystem>
#include <string>
#include <vector>

#include "seq2seq/run_vocabularies.h"
#include "seq2seq/seq2seq_flags.h"

namespace pagoda::app {

/// All text of a run, as tokens.
struct PreparedText {
  Codecs codecs;
  EncodedText text;                    ///< pairs to train on and to test with
  std::vector<DataInput> inputs = {};  ///< text and vocabularies
  std::string remark = {};             ///< about tokens that were kept before, for the log
  bool is_kept = false;                ///< the tokens lie in the directory that was asked for

  DataRecord record() const;
};

/// Learns vocabularies from the training text into files of a directory that exists, and encodes
/// all text. With a SentencePiece model the text is read twice, otherwise once.
/// Fails: DataError when nothing is left to train on or to test with.
PreparedText learn_text(const TextFlags& flags, const std::filesystem::path& directory,
                        LogFormat format);

/// Encodes all text with the vocabularies of a run, or takes the tokens that are kept there, if
/// text, options and vocabularies are still those that they were made of: then the text is not
/// read, and what the run's record says of it holds.
/// Fails: as learn_text, load_codecs and check_vocabularies.
PreparedText load_text(const TextFlags& flags, const std::filesystem::path& run, LogFormat format);

/// The text to test a run's model with: the files that the flags name, or what was held out of the
/// training text, or built-in pairs. Only what is held out takes all text of the run, as load_text.
/// Fails: as load_text; DataError when text of which pairs were held out has changed.
EncodedText load_validation_text(const TextFlags& flags, const std::filesystem::path& run,
                                 const Codecs& codecs);

/// Keeps the tokens in the directory, unless they are there. Fails: IoError.
void keep_tokens(const PreparedText& prepared, const std::filesystem::path& directory);

}  // namespace pagoda::app
