#pragma once

#include <pagoda/text/vocabulary.h>

#include <cstdint>
#include <span>
#include <vector>

namespace pagoda {

/// Many token sequences close together in memory: four bytes a token and twelve a sequence. Grows
/// without copying what is there.
///
/// Threads: any number may read while none adds.
class TokenStore {
 public:
  /// Adds a sequence.
  void add(std::span<const TokenId> tokens);

  /// How many sequences there are.
  std::int64_t size() const { return static_cast<std::int64_t>(places_.size()); }
  std::span<const TokenId> operator[](std::int64_t number) const;

  /// Puts `ids[t]` in the place of every token t.
  void renumber(std::span<const TokenId> ids);

  /// Memory in use.
  std::int64_t bytes() const;

 private:
  // A sequence lies in one chunk, its length before it.
  std::vector<std::vector<TokenId>> chunks_;
  std::vector<std::uint64_t> places_;  // chunk << 32 | offset
};

/// Sentence pairs as tokens. Targets have neither kBegin nor kEnd.
struct PairStore {
  TokenStore sources;  ///< what is translated
  TokenStore targets;  ///< what it becomes

  /// How many pairs there are.
  std::int64_t size() const { return sources.size(); }
  /// What they take in memory.
  std::int64_t bytes() const { return sources.bytes() + targets.bytes(); }
};

}  // namespace pagoda
