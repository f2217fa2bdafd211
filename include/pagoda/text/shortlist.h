#pragma once

#include <pagoda/text/pair_store.h>

#include <cstdint>
#include <span>
#include <vector>

namespace pagoda {

/// What a Shortlist is learnt from.
struct ShortlistOptions {
  /// Target tokens that are kept for each source token; of the frequent ones five times as many.
  std::int64_t kept = 200;
  /// Of more pairs so many are read, evenly spread.
  std::int64_t max_pairs = 200'000;
};

/// Which target tokens are likely to translate each source token, so that a decoder needs to compare
/// these only (DecodeOptions::choices).
///
/// Learnt from sentence pairs by word alignment, IBM Model 1 of Brown et al., 1993: a target token is
/// ranked by its chance to stand for the source token. A function of the pairs, whatever computes it.
///
/// Threads: any number. Example:
///     const auto list = Shortlist::learn(pairs, source_vocabulary.size(), target_vocabulary.size());
///     options.choices.push_back(list.tokens_for(sentence, 100));
class Shortlist {
 public:
  /// Fails: UsageError for options below 1.
  static Shortlist learn(const PairStore& pairs, TokenId source_vocabulary,
                         TokenId target_vocabulary, const ShortlistOptions& options = {});

  /// As plain numbers, for a file.
  struct Parts {
    /// Where the tokens of each source token begin in `targets`; one more than there are source tokens.
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> targets;  ///< the likeliest of a source token first
    std::vector<std::int64_t>
        frequent;  ///< target tokens that come most often, most frequent first
  };
  /// Fails: DataError for numbers that cannot be of a list with so many target tokens.
  Shortlist(Parts parts, TokenId target_vocabulary);
  /// The same numbers again.
  const Parts& parts() const { return parts_; }

  /// How many source tokens it knows.
  TokenId source_vocabulary() const { return static_cast<TokenId>(parts_.starts.size() - 1); }

  /// The `count` likeliest for each of the tokens, and five times as many of the most frequent; ascending,
  /// each once. Fails: UsageError for a token that it does not know.
  std::vector<std::int64_t> tokens_for(std::span<const std::int64_t> source,
                                       std::int64_t count) const;

 private:
  Parts parts_;
};

}  // namespace pagoda
