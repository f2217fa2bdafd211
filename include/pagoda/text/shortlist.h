#pragma once

#include <pagoda/text/pair_store.h>

#include <cstdint>
#include <span>
#include <vector>

namespace pagoda {

/// How a Shortlist is learnt.
struct ShortlistOptions {
  /// Target tokens to keep for each source token, and five times as many of the most frequent ones.
  std::int64_t kept = 200;
  /// The most pairs to learn from; of more pairs, this many are used, evenly spaced.
  std::int64_t max_pairs = 200'000;
};

/// Which target tokens are likely to translate each source token, so that a decoder has to score
/// only these (DecodeOptions::choices).
///
/// It is learnt from sentence pairs by word alignment, with IBM Model 1 (Brown et al., 1993):
/// target tokens are ranked by their probability given the source token. The result is a function
/// of pairs and options; it does not depend on threads or timing.
///
/// Threads: immutable after construction.
/// Example:
///     const auto list = Shortlist::learn(pairs, source_vocabulary.size(), target_vocabulary.size());
///     options.choices.push_back(list.tokens_for(sentence, 100));
class Shortlist {
 public:
  /// Learns a list from pairs. Fails: UsageError for options below 1, and for a token outside its
  /// vocabulary.
  static Shortlist learn(const PairStore& pairs, TokenId source_vocabulary,
                         TokenId target_vocabulary, const ShortlistOptions& options = {});

  /// The list as plain numbers, for a file.
  struct Parts {
    /// Where the target tokens of each source token begin in `targets`, and the end of the last.
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> targets;   ///< for each source token, the likeliest first
    std::vector<std::int64_t> frequent;  ///< the most frequent target tokens, in that order
  };
  /// Makes the list from its parts. Fails: DataError when they are inconsistent, or have a token
  /// outside the target vocabulary.
  Shortlist(Parts parts, TokenId target_vocabulary);
  /// The list as plain numbers.
  const Parts& parts() const { return parts_; }

  /// How many source tokens it knows.
  TokenId source_vocabulary() const { return static_cast<TokenId>(parts_.starts.size() - 1); }

  /// The `count` likeliest target tokens of each source token, and the 5 * `count` most frequent
  /// ones; ascending, without duplicates.
  /// Fails: UsageError for a token outside the source vocabulary.
  std::vector<std::int64_t> tokens_for(std::span<const std::int64_t> source,
                                       std::int64_t count) const;

 private:
  Parts parts_;
};

}  // namespace pagoda
