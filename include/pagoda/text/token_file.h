#pragma once

#include <pagoda/text/pair_store.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pagoda {

/// A text as tokens, and what must be known of it when it is not read again.
struct EncodedText {
  /// What the tokens were made of, a line for each input. Whoever reads the file compares it.
  std::string inputs = {};
  std::vector<std::string> notes = {};  ///< what was said about the text
  PairStore train = {};                 ///< to train on
  PairStore valid = {};                 ///< held out, to validate with
  /// Pairs to translate as text, line i of `references` for line i of `sources`.
  std::vector<std::string> sources = {};
  std::vector<std::string> references = {};  ///< what `sources` should become
};

/// Keeps it in a file, as docs/formats/tokens.md says byte by byte, which is replaced whole or not
/// at all. Fails: IoError.
void write_token_file(const std::filesystem::path& path, const EncodedText& text);

/// Fails: IoError when it cannot be read; DataError when it is damaged, cut, or of another version.
EncodedText read_token_file(const std::filesystem::path& path);

}  // namespace pagoda
