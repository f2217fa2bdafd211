#pragma once

#include <pagoda/text/vocabulary.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// Draws random segmentations of a text into tokens of a SentencePiece model: subword
/// regularisation (Kudo, ACL 2018). A model trained on a different segmentation in every epoch
/// learns how words are composed, which helps where there is little text.
///
/// The probability of a segmentation is proportional to the product of its tokens' probabilities,
/// raised to the power `alpha`: 1 draws from the model's own distribution, nearly always its best
/// segmentation; smaller values draw more evenly, and so give more and shorter tokens. With 8,000
/// tokens, a text becomes 1.04 times as long with 0.5, 1.15 times with 0.3 and 1.3 times with 0.2.
///
/// Threads: any number may draw at once.
/// Fails: IoError when the model cannot be read; DataError for a file that is not a unigram model;
/// UsageError for an `alpha` that is not positive and finite.
/// Example:
///     SubwordSampler draw("joint.model", 0.3);
///     SequenceBatches data(pairs, towers.size(), {.change_source = draw, .change_target = draw});
class SubwordSampler {
 public:
  SubwordSampler(const std::filesystem::path& model, double alpha);

  /// Other tokens for the same text, a function of tokens and seed alone; tokens are numbered as in
  /// sentencepiece_vocabulary(model). Special tokens stay. A draw of more than twice as many tokens
  /// is discarded, and `tokens` returned.
  /// Fails: UsageError for a token that the model does not have.
  std::vector<TokenId> operator()(std::span<const TokenId> tokens, std::uint64_t seed) const;

 private:
  struct Piece {
    std::string text;
    TokenId token;
    double weight;  // the logarithm of its probability, times alpha
  };
  class Draw;

  /// Calls `visit` with every piece that is a prefix of `text`.
  template <class Visit>
  void for_each_prefix(std::string_view text, Visit visit) const;
  /// The text of a token; empty for a special one.
  std::string_view text_of(TokenId token) const;

  std::vector<Piece> pieces_;        // sorted by text
  std::vector<std::size_t> places_;  // by token: its index in pieces_; kNone for special ones
};

}  // namespace pagoda
