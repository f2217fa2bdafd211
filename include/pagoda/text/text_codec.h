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

/// Lines to token numbers and back: a tokenizer with a vocabulary.
///
/// Threads: any. Owns: its vocabulary; shares the tokenizer.
/// Example:
///     TextCodec codec(make_character_tokenizer(), Vocabulary::load("vocab.txt"));
///     std::string same = codec.decode(codec.encode("你好"));
class TextCodec {
 public:
  TextCodec(std::shared_ptr<const Tokenizer> tokenizer, Vocabulary vocabulary)
      : tokenizer_(std::move(tokenizer)), vocabulary_(std::move(vocabulary)) {}

  /// Without kBegin and kEnd.
  std::vector<TokenId> encode(std::string_view line) const;
  /// Ends at the first kEnd; kPad and kBegin are left out.
  std::string decode(std::span<const TokenId> tokens) const;

  /// Numbers of the tokens.
  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// What cuts a line into them.
  const Tokenizer& tokenizer() const { return *tokenizer_; }

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  Vocabulary vocabulary_;
};

/// Which texts of the pairs a vocabulary is for.
enum class PairSide { source, target, both };

/// The vocabulary of the most frequent tokens of all pairs; see TokenCounter.
Vocabulary count_vocabulary(PairReader& pairs, PairSide side, const Tokenizer& tokenizer,
                            TokenId max_size, std::int64_t min_count = 1);

/// Learns a SentencePiece model from all pairs; see train_sentencepiece.
void train_sentencepiece(PairReader& pairs, PairSide side, const std::filesystem::path& model,
                         const SentencePieceTraining& options = {});

/// Learns a model of each side in one pass over the pairs.
void train_sentencepiece(PairReader& pairs, const std::filesystem::path& source_model,
                         const std::filesystem::path& target_model,
                         const SentencePieceTraining& options = {});

/// Which pairs are kept.
struct EncodeOptions {
  std::int64_t max_source_tokens = 100;  ///< pairs with a longer side are left out and counted
  std::int64_t max_target_tokens = 100;  ///< the same for the other side
};

/// Pairs as tokens, and what happened to them on the way.
struct EncodedPairs {
  PairStore pairs;                  ///< those that were kept
  std::int64_t too_long = 0;        ///< pairs left out for their length
  std::int64_t empty = 0;           ///< pairs left out because a side has no token
  std::int64_t tokens = 0;          ///< in what is kept
  std::int64_t unknown_tokens = 0;  ///< of them not in the vocabulary
};

/// Encodes all pairs as they are read: only the tokens are kept, about 200 bytes a pair of 20
/// tokens each.
EncodedPairs encode_pairs(PairReader& pairs, const TextCodec& source, const TextCodec& target,
                          const EncodeOptions& options = {});

/// Whether each side has a vocabulary of its own.
enum class Sides { separate, joint };

/// Vocabularies learned from pairs, and these pairs as their tokens.
struct LearnedPairs {
  Vocabulary source;     ///< of the source side
  Vocabulary target;     ///< the same as `source` when they are joint
  EncodedPairs encoded;  ///< the text as tokens
};

/// What count_vocabulary and then encode_pairs give, in one pass over the text. All tokens that the
/// text has are held in memory until the end, the rare ones too.
LearnedPairs learn_pairs(PairReader& pairs, const Tokenizer& tokenizer, Sides sides,
                         TokenId max_size, const EncodeOptions& options = {});

}  // namespace pagoda
