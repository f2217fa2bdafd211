#pragma once

#include <pagoda/text/pair_store.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pagoda {

/// A text as tokens, with all that is needed to use them without reading the text again.
struct EncodedText {
  /// What the tokens were made from, one line per input. Whoever reads the file compares it with
  /// the inputs at hand.
  std::string inputs = {};
  std::vector<std::string> notes = {};  ///< what the log says about the text
  PairStore train = {};                 ///< pairs to train on
  PairStore valid = {};                 ///< pairs held out for validation
  /// Validation sources as text, to be translated and scored.
  std::vector<std::string> sources = {};
  std::vector<std::string> references = {};  ///< the expected translation of each of `sources`
};

/// Writes a token file, atomically: it is replaced as a whole or not at all. docs/formats/tokens.md
/// describes its bytes. Fails: IoError.
void write_token_file(const std::filesystem::path& path, const EncodedText& text);

/// Reads a token file.
/// Fails: IoError when it cannot be read; DataError when it is damaged, truncated or of another
/// version.
EncodedText read_token_file(const std::filesystem::path& path);

}  // namespace pagoda
