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
inline constexpr TokenId kPad = 0;      ///< "<pad>": fills short sequences; never counts
inline constexpr TokenId kUnknown = 1;  ///< "<unk>": any token that is not in the vocabulary
inline constexpr TokenId kBegin = 2;    ///< "<s>": what a decoder is given first
inline constexpr TokenId kEnd = 3;      ///< "</s>": ends a target
/// How many special tokens there are; the others follow them.
inline constexpr TokenId kSpecialTokens = 4;

namespace detail {

/// Looks a token up without making a string of it.
struct TokenHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

template <class Value>
using TokenMap = std::unordered_map<std::string, Value, TokenHash, std::equal_to<>>;

}  // namespace detail

/// Tokens and their numbers. As a file: one token a line, line i (from 0) is token i; the first
/// four lines are the special tokens. Frequent tokens come first.
///
/// Threads: immutable after construction.
/// Fails: DataError with file and line for a token that is empty or stands twice, or when the
/// special tokens are missing; IoError.
class Vocabulary {
 public:
  /// The special tokens, then `tokens` in their order.
  explicit Vocabulary(const std::vector<std::string>& tokens = {});

  /// Reads a file with a token a line. Fails: IoError; DataError when it is none.
  static Vocabulary load(const std::filesystem::path& path);
  /// Writes such a file, whole or not at all. Fails: IoError.
  void save(const std::filesystem::path& path) const;

  /// How many tokens there are, the special ones included.
  TokenId size() const { return static_cast<TokenId>(tokens_.size()); }
  /// kUnknown for a token that is not there.
  TokenId id(std::string_view token) const;
  /// The token of a number.
  const std::string& token(TokenId id) const { return tokens_[static_cast<std::size_t>(id)]; }

 private:
  /// False when the token is there already.
  bool add(std::string token);

  std::vector<std::string> tokens_;
  detail::TokenMap<TokenId> ids_;
};

/// Counts tokens and makes the vocabulary of the most frequent ones. Threads: one.
class TokenCounter {
 public:
  /// Counts the token and gives its number: 0 for the first token that was ever added, 1 for the
  /// next new one, and so on.
  TokenId add(std::string_view token);

  /// At most `max_size` tokens, the special ones included, each seen at least `min_count` times;
  /// frequent ones first, equally frequent ones in the order of their bytes.
  Vocabulary vocabulary(TokenId max_size, std::int64_t min_count = 1) const;

  /// The tokens' numbers in a vocabulary, by the numbers that `add` gave.
  std::vector<TokenId> ids_in(const Vocabulary& vocabulary) const;

 private:
  struct Entry {
    TokenId number;
    std::int64_t count;
  };
  detail::TokenMap<Entry> entries_;
};

}  // namespace pagoda
