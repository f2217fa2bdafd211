#pragma once

#include <pagoda/text/vocabulary.h>

#include <cstdint>
#include <span>
#include <vector>

namespace pagoda {

/// Many token sequences, packed in memory: four bytes per token and twelve per sequence. It grows
/// without copying the sequences that it already holds.
///
/// Threads: any number may read while none changes it.
class TokenStore {
 public:
  /// Appends a sequence.
  void add(std::span<const TokenId> tokens);

  /// How many sequences there are.
  std::int64_t size() const { return static_cast<std::int64_t>(places_.size()); }
  std::span<const TokenId> operator[](std::int64_t number) const;

  /// Replaces every token t by `ids[t]`.
  void renumber(std::span<const TokenId> ids);

  /// Bytes of memory in use.
  std::int64_t bytes() const;

 private:
  // A sequence lies within one chunk, preceded by its length.
  std::vector<std::vector<TokenId>> chunks_;
  std::vector<std::uint64_t> places_;  // chunk << 32 | offset
};

/// Sentence pairs as tokens. Targets contain neither kBegin nor kEnd.
struct PairStore {
  TokenStore sources;  ///< the texts to translate
  TokenStore targets;  ///< target i is the translation of source i

  /// How many pairs there are.
  std::int64_t size() const { return sources.size(); }
  /// Bytes of memory in use.
  std::int64_t bytes() const { return sources.bytes() + targets.bytes(); }
};

}  // namespace pagoda
