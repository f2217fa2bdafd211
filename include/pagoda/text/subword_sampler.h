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

/// Cuts the same text into other tokens of a SentencePiece model, at random: subword regularisation
/// (Kudo, ACL 2018). A model that is trained on another cut in every epoch learns what words are
/// made of, which helps where there is little text.
///
/// A cut's probability is proportional to that of its tokens together, to the power of `alpha`: 1
/// draws as the model does, nearly always its best cut; less draws more evenly, so more and shorter
/// tokens. With 8,000 tokens a text becomes 1.04 times as long with 0.5, 1.15 times with 0.3 and
/// 1.3 times with 0.2.
///
/// Threads: any number may draw at once.
/// Fails: IoError; DataError for a file that is no unigram model, UsageError for an `alpha` that is
/// not positive.
/// Example:
///     SubwordSampler draw("joint.model", 0.3);
///     SequenceBatches data(pairs, towers.size(), {.change_source = draw, .change_target = draw});
class SubwordSampler {
 public:
  SubwordSampler(const std::filesystem::path& model, double alpha);

  /// Other tokens of the same text, where `tokens` are of sentencepiece_vocabulary(model); a function of
  /// tokens and seed alone. Special tokens stay. A draw of more than twice as many tokens is not
  /// taken: then the tokens stay as they are.
  std::vector<TokenId> operator()(std::span<const TokenId> tokens, std::uint64_t seed) const;

 private:
  struct Piece {
    std::string text;
    TokenId token;
    double weight;  // logarithm of its probability, times alpha
  };
  class Draw;

  /// Calls `visit` with every piece that `text` begins with.
  template <class Visit>
  void for_each_prefix(std::string_view text, Visit visit) const;
  /// The text of a token; nothing for a special one.
  std::string_view text_of(TokenId token) const;

  std::vector<Piece> pieces_;        // in the order of their texts
  std::vector<std::size_t> places_;  // of the tokens in pieces_; kNone for special ones
};

}  // namespace pagoda
