#include "models/top_tokens.h"

#include <algorithm>
#include <limits>

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include "models/decoding_kernels.h"

namespace pagoda {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr std::int64_t kMostInserted = 64;  // of more, sorting is faster

template <class T>
class TopOfRows {
 public:
  TopOfRows(const at::Tensor& logits, std::int64_t count)
      : logits_(logits),
        count_(count),
        found_{at::empty({logits.size(0), count}, at::kLong),
               at::empty({logits.size(0), count}, at::kDouble)} {}

  TopTokens run(const std::vector<std::int64_t>& never, const std::vector<TokenRule>& rules,
                TokenScores scores) {
    const std::int64_t width = logits_.size(1);
    for (std::int64_t row = 0; row < logits_.size(0); ++row) {
      T* values = logits_.mutable_data_ptr<T>() + row * width;
      const double base = scores == TokenScores::logits ? 0 : log_sum_exp(values, logits_.size(1));
      std::int64_t* tokens = found_.tokens.mutable_data_ptr<std::int64_t>() + row * count_;
      find(values, never, rules.empty() ? nullptr : &rules[static_cast<std::size_t>(row)], tokens);
      take_scores(values, base, row);
    }
    return found_;
  }

 private:
  static void forbid(T* values, const std::vector<std::int64_t>& tokens) {
    for (const std::int64_t token : tokens) values[token] = static_cast<T>(kImpossible);
  }

  void find(T* values, const std::vector<std::int64_t>& never, const TokenRule* rule,
            std::int64_t* tokens) {
    if (rule != nullptr && rule->only != kAnyToken) {
      std::fill_n(tokens, count_, kAnyToken);
      tokens[0] = rule->only;
      return;
    }
    forbid(values, never);
    if (rule != nullptr) forbid(values, rule->never);
    find_top(TopOfRow<T>{values, logits_.size(1), count_, tokens});
  }

  void take_scores(const T* values, double base, std::int64_t row) {
    std::int64_t* tokens = found_.tokens.mutable_data_ptr<std::int64_t>() + row * count_;
    double* scores = found_.scores.mutable_data_ptr<double>() + row * count_;
    for (std::int64_t i = 0; i < count_; ++i) {
      scores[i] = tokens[i] < 0 ? kImpossible : static_cast<double>(values[tokens[i]]) - base;
      tokens[i] = std::max<std::int64_t>(tokens[i], 0);
    }
  }

  const at::Tensor logits_;
  const std::int64_t count_;
  TopTokens found_;
};

/// By operators of LibTorch: on cards, and for many tokens of a row.
TopTokens sorted_tokens(at::Tensor scores, std::int64_t count,
                        const std::vector<std::int64_t>& never,
                        const std::vector<TokenRule>& rules) {
  const at::Tensor all = scores.clone();
  for (const std::int64_t token : never) scores.select(1, token).fill_(kImpossible);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    at::Tensor row = scores[number];
    for (const std::int64_t token : rules[i].never) row[token].fill_(kImpossible);
    if (rules[i].only == kAnyToken) continue;
    row.fill_(kImpossible);
    row[rules[i].only] = all[number][rules[i].only];
  }
  const auto [top, tokens] = scores.topk(count, 1);
  return {tokens.cpu(), top.to(at::kCPU, at::kDouble)};
}

}  // namespace

TopTokens top_tokens(const at::Tensor& logits, std::int64_t count,
                     const std::vector<std::int64_t>& never, const std::vector<TokenRule>& rules,
                     TokenScores scores) {
  const std::int64_t kept = std::min(count, logits.size(1));
  const bool can_insert = logits.is_cpu() && kept <= kMostInserted && logits.is_contiguous();
  if (can_insert && logits.scalar_type() == at::kFloat)
    return TopOfRows<float>(logits, kept).run(never, rules, scores);
  if (can_insert && logits.scalar_type() == at::kDouble)
    return TopOfRows<double>(logits, kept).run(never, rules, scores);
  return sorted_tokens(scores == TokenScores::logits ? logits : logits.log_softmax(-1), kept, never,
                       rules);
}

}  // namespace pagoda
