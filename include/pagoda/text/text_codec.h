#pragma once

#include <pagoda/text/pair_reader.h>
#include <pagoda/text/pair_store.h>
#include <pagoda/text/sentencepiece_training.h>
#include <pagoda/text/tokenizer.h>
#include <pagoda/text/vocabulary.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Converts lines to token numbers and back: a tokenizer with a vocabulary.
///
/// Threads: any. Owns: its vocabulary; shares the tokenizer.
/// Example:
///     TextCodec codec(make_character_tokenizer(), Vocabulary::load("vocab.txt"));
///     std::string same = codec.decode(codec.encode("你好"));
class TextCodec {
 public:
  TextCodec(std::shared_ptr<const Tokenizer> tokenizer, Vocabulary vocabulary)
      : tokenizer_(std::move(tokenizer)), vocabulary_(std::move(vocabulary)) {}

  /// The token numbers of a line, without kBegin and kEnd.
  std::vector<TokenId> encode(std::string_view line) const;
  /// The text of token numbers, each in [0, vocabulary().size()), up to the first kEnd; kPad and
  /// kBegin are left out.
  std::string decode(std::span<const TokenId> tokens) const;

  /// The numbers of the tokens.
  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// What splits a line into tokens.
  const Tokenizer& tokenizer() const { return *tokenizer_; }

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  Vocabulary vocabulary_;
};

/// Which side of the pairs a vocabulary covers.
enum class PairSide { source, target, both };

/// The vocabulary of the most frequent tokens in all pairs; see TokenCounter.
Vocabulary count_vocabulary(PairReader& pairs, PairSide side, const Tokenizer& tokenizer,
                            TokenId max_size, std::int64_t min_count = 1);

/// Learns a SentencePiece model from all pairs; see sentencepiece_training.h.
void train_sentencepiece(PairReader& pairs, PairSide side, const std::filesystem::path& model,
                         const SentencePieceTraining& options = {});

/// Learns a model for each side, in one pass over the pairs.
void train_sentencepiece(PairReader& pairs, const std::filesystem::path& source_model,
                         const std::filesystem::path& target_model,
                         const SentencePieceTraining& options = {});

/// Which pairs are kept.
struct EncodeOptions {
  std::int64_t max_source_tokens = 100;  ///< pairs with a longer source are left out and counted
  std::int64_t max_target_tokens = 100;  ///< the same for targets
};

/// Pairs as tokens, and what was left out.
struct EncodedPairs {
  PairStore pairs;                  ///< the pairs that were kept
  std::int64_t too_long = 0;        ///< pairs left out for their length
  std::int64_t empty = 0;           ///< pairs left out because a side has no token
  std::int64_t tokens = 0;          ///< tokens in the pairs that were kept
  std::int64_t unknown_tokens = 0;  ///< how many of them are not in the vocabulary
};

/// Encodes all pairs as they are read. Only the tokens are kept: about 200 bytes for a pair with 20
/// tokens on each side.
EncodedPairs encode_pairs(PairReader& pairs, const TextCodec& source, const TextCodec& target,
                          const EncodeOptions& options = {});

/// Whether each side has its own vocabulary, or both share one.
enum class Sides { separate, joint };

/// Vocabularies learnt from pairs, and the same pairs as tokens.
struct LearnedPairs {
  Vocabulary source;     ///< of the source side
  Vocabulary target;     ///< the same as `source` if the sides are joint
  EncodedPairs encoded;  ///< the pairs as tokens
};

/// The results of count_vocabulary and then encode_pairs, in one pass over the text. Until its end,
/// all distinct tokens of the text are held in memory, including the rare ones.
LearnedPairs learn_pairs(PairReader& pairs, const Tokenizer& tokenizer, Sides sides,
                         TokenId max_size, const EncodeOptions& options = {});

}  // namespace pagoda
