#pragma once

// A tiny translation problem and models for it.

#include <pagoda/models/seq2seq.h>
#include <pagoda/text/pair_store.h>

#include <cstdint>
#include <vector>

namespace pagoda::testing {

inline constexpr std::int64_t kTinyVocabulary = 13;

/// Sequences of different length whose tokens are a formula; a target is its source in reverse.
inline PairStore tiny_pairs(std::int64_t count) {
  PairStore pairs;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<TokenId> tokens;
    for (std::int64_t j = 0; j < 1 + i * 7 % 5; ++j) {
      tokens.push_back(static_cast<TokenId>(
          kSpecialTokens + (i * 5 + j * j + j) % (kTinyVocabulary - kSpecialTokens)));
    }
    pairs.sources.add(tokens);
    pairs.targets.add(std::vector<TokenId>(tokens.rbegin(), tokens.rend()));
  }
  return pairs;
}

inline Seq2SeqOptions tiny_options() {
  return {.source_vocabulary = kTinyVocabulary,
          .target_vocabulary = kTinyVocabulary,
          .embedding = 6,
          .hidden = 8,
          .layers = 2,
          .samples = 7};
}

}  // namespace pagoda::testing
