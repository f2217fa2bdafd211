#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pagoda {

/// The number of a token.
using TokenId = std::int32_t;

/// The first four tokens of every vocabulary.
inline constexpr TokenId kPad = 0;      ///< "<pad>": pads short sequences; never counts
inline constexpr TokenId kUnknown = 1;  ///< "<unk>": any token that is not in the vocabulary
inline constexpr TokenId kBegin = 2;    ///< "<s>": the first input of a decoder
inline constexpr TokenId kEnd = 3;      ///< "</s>": ends a target
/// How many special tokens there are; all others follow them.
inline constexpr TokenId kSpecialTokens = 4;

namespace detail {

/// Allows lookups by string_view, without making a string.
struct TokenHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

template <class Value>
using TokenMap = std::unordered_map<std::string, Value, TokenHash, std::equal_to<>>;

}  // namespace detail

/// Tokens and their numbers. The special tokens come first, then, by convention, the others from
/// the most frequent to the rarest. In a file, line i (from 0) is token i.
///
/// Threads: immutable after construction.
/// Fails: DataError for a token that is empty or occurs twice.
class Vocabulary {
 public:
  /// The special tokens, then `tokens` in this order.
  explicit Vocabulary(const std::vector<std::string>& tokens = {});

  /// Reads a file with one token per line.
  /// Fails: IoError when it cannot be read; DataError, with file and line, when it does not begin
  /// with the special tokens, or a token is empty, occurs twice or is not valid text.
  static Vocabulary load(const std::filesystem::path& path);
  /// Writes such a file, atomically. Fails: IoError.
  void save(const std::filesystem::path& path) const;

  /// How many tokens there are, including the special ones.
  TokenId size() const { return static_cast<TokenId>(tokens_.size()); }
  /// The number of a token; kUnknown if it is not in the vocabulary.
  TokenId id(std::string_view token) const;
  /// The token with this number, which must be in [0, size()).
  const std::string& token(TokenId id) const { return tokens_[static_cast<std::size_t>(id)]; }

 private:
  /// Returns false if the token is there already.
  bool add(std::string token);

  std::vector<std::string> tokens_;
  detail::TokenMap<TokenId> ids_;
};

/// Counts tokens, and makes a vocabulary of the most frequent ones. Threads: one at a time.
class TokenCounter {
 public:
  /// Counts the token and returns its number in the order of first occurrence: 0 for the first
  /// token added, 1 for the next new one, and so on.
  TokenId add(std::string_view token);

  /// At most `max_size` tokens, including the special ones, each of the others counted at least
  /// `min_count` times; the most frequent first, and equally frequent ones in byte order.
  /// Fails: UsageError for a `max_size` below kSpecialTokens.
  Vocabulary vocabulary(TokenId max_size, std::int64_t min_count = 1) const;

  /// The numbers of all counted tokens in a vocabulary: element n is for the token that `add`
  /// numbered n, and is kUnknown if the vocabulary does not have it.
  std::vector<TokenId> ids_in(const Vocabulary& vocabulary) const;

 private:
  struct Entry {
    TokenId number;
    std::int64_t count;
  };
  detail::TokenMap<Entry> entries_;
};

}  // namespace pagoda
