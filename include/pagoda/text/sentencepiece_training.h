#pragma once

#include <pagoda/text/vocabulary.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

namespace pagoda {

/// How a SentencePiece model is learnt.
struct SentencePieceTraining {
  /// At most so many tokens, the special ones included; a small text gives fewer.
  TokenId vocab_size = 8000;
  /// Part of the characters that must become tokens; below 1, rare ones become <unk>. Unset: 1 where
  /// characters would take at most an eighth of the tokens, as in languages that are written with letters;
  /// otherwise 0.9995.
  std::optional<double> character_coverage = std::nullopt;
  /// Lines to learn from, drawn evenly when there are more; bounds the memory.
  std::int64_t max_lines = 1'000'000;
};

/// Learns a SentencePiece model (unigram) from lines and writes it to `model`. `next_line` gives
/// the lines one by one and nothing at the end. Its tokens have the numbers that Vocabulary gives
/// them. The same lines give the same model.
///
/// Fails: DataError when the text is empty, or has more characters than `vocab_size`; IoError.
void train_sentencepiece(const std::function<std::optional<std::string_view>()>& next_line,
                         const std::filesystem::path& model,
                         const SentencePieceTraining& options = {});

/// The tokens of a model as a vocabulary, in the model's order.
Vocabulary sentencepiece_vocabulary(const std::filesystem::path& model);

}  // namespace pagoda
