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
  /// The largest number of tokens, including the special ones; a small text yields fewer.
  TokenId vocab_size = 8000;
  /// The fraction of the text's characters, by occurrence, that tokens must cover; below 1, the
  /// rarest become <unk>. Unset: 1 if there are at most `vocab_size` / 8 distinct characters, as in
  /// languages with an alphabet; otherwise 0.9995.
  std::optional<double> character_coverage = std::nullopt;
  /// Learn from at most this many lines, a uniform sample if there are more; limits the memory.
  std::int64_t max_lines = 1'000'000;
};

/// Learns a SentencePiece model (unigram) from lines and writes it to `model`. `next_line` returns
/// the lines one by one, and nothing at the end. The model numbers its tokens as
/// sentencepiece_vocabulary does. The same lines give the same model.
///
/// Fails: DataError when there are no lines, or SentencePiece cannot learn from them (for example
/// because they have more distinct characters than `vocab_size` allows); IoError when the model
/// cannot be written.
void train_sentencepiece(const std::function<std::optional<std::string_view>()>& next_line,
                         const std::filesystem::path& model,
                         const SentencePieceTraining& options = {});

/// The tokens of a model as a vocabulary: the special tokens, then all others in the model's order.
/// Fails: IoError or DataError when the model cannot be read.
Vocabulary sentencepiece_vocabulary(const std::filesystem::path& model);

}  // namespace pagoda
