#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace pagoda {

inline constexpr std::int64_t kAnyToken = -1;

/// What a row may be followed by.
struct TokenRule {
  std::int64_t only = kAnyToken;      ///< this one, whatever else may never follow
  std::vector<std::int64_t> never{};  ///< none of these
};

/// The likeliest tokens of each row, on the host, best first: `tokens` int64 and their `scores` double,
/// [rows, count]. A score of minus infinity stands where there are fewer.
struct TopTokens {
  at::Tensor tokens;
  at::Tensor scores;
};

enum class TokenScores {
  log_probabilities,  ///< also of what may not follow: rules take nothing from the others
  logits,             ///< without the pass over the row that normalises them
};

/// `logits` [rows, vocabulary], which are overwritten. Either one rule for each row, or none.
TopTokens top_tokens(const at::Tensor& logits, std::int64_t count,
                     const std::vector<std::int64_t>& never, const std::vector<TokenRule>& rules,
                     TokenScores scores = TokenScores::log_probabilities);

}  // namespace pagoda
