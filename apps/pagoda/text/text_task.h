#pragma once

#include <pagoda/text/text_codec.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "text/seq2seq_flags.h"

namespace pagoda::app {

/// Both sides' tokenizers and vocabularies, as they lie in the directory `vocabulary` of a run.
struct Codecs {
  TextCodec source;
  TextCodec target;
};

/// Learns vocabularies from the training text into files of a directory that exists.
void learn_vocabularies(const TextFlags& flags, const std::filesystem::path& directory);

/// Fails: IoError or DataError when files are missing or damaged.
Codecs load_codecs(const TextFlags& flags, const std::filesystem::path& directory);

/// Copies learned vocabularies into a run's directory, whole or not at all.
void keep_vocabularies(const std::filesystem::path& from, const std::filesystem::path& directory);

/// Pairs to train on and to test with.
struct TextTask {
  PairStore train;
  PairStore valid;
  /// The first `bleu_pairs` pairs of the test as text.
  std::vector<std::string> sources;
  std::vector<std::string> references;
};

/// Reads and encodes all text; `say` gets a line about each file set.
/// Fails: DataError when nothing is left to train on or to test with.
TextTask load_text(const TextFlags& flags, const Codecs& codecs,
                   const std::function<void(const std::string&)>& say);

}  // namespace pagoda::app
