#pragma once

#include <filesystem>
#include <sentencepiece_processor.h>
#include <string>
#include <vector>

namespace pagoda {

/// Throws DataError of what did not work, with SentencePiece's own words.
[[noreturn]] void fail_sentencepiece(const std::string& what,
                                     const sentencepiece::util::Status& status);

/// Fails: IoError; DataError when the file is no model.
void load_sentencepiece(sentencepiece::SentencePieceProcessor& processor,
                        const std::filesystem::path& model);

/// The model's numbers of its tokens without the special ones, in its order: the first is token
/// kSpecialTokens of its Vocabulary, and so on.
std::vector<int> ordinary_pieces(const sentencepiece::SentencePieceProcessor& processor);

}  // namespace pagoda
