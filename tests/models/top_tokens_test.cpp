#include "models/top_tokens.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace top_tokens_test {

TEST(TopTokensTest, TheKernelAndLibTorchsOperatorsFindTheSame) {
  torch::manual_seed(4);
  const at::Tensor logits = torch::randn({6, 97}, torch::kDouble);
  std::vector<TokenRule> rules(6);
  rules[1].only = 5;
  rules[2].never = {7, 8, 9};
  rules[3] = {.only = 3, .never = {3}};
  for (const auto& used : {std::vector<TokenRule>{}, rules}) {
    const TopTokens few = top_tokens(logits.clone(), 5, {0, 5}, used);
    const TopTokens all = top_tokens(logits.clone(), 97, {0, 5}, used);  // sorted
    for (std::int64_t row = 0; row < 6; ++row) {
      for (std::int64_t i = 0; i < 5; ++i) {
        if (std::isinf(all.scores[row][i].item<double>())) {
          EXPECT_TRUE(std::isinf(few.scores[row][i].item<double>()));
          continue;
        }
        EXPECT_EQ(few.tokens[row][i].item<std::int64_t>(), all.tokens[row][i].item<std::int64_t>());
        EXPECT_NEAR(few.scores[row][i].item<double>(), all.scores[row][i].item<double>(), 1e-9);
      }
    }
  }
}

TEST(TopTokensTest, ScoresAreLogProbabilitiesOfAllTokensOrLogits) {
  const at::Tensor logits = torch::tensor({{1.0, 3.0, 2.0}}, torch::kDouble);
  const at::Tensor chances = logits.log_softmax(1);
  const TopTokens found = top_tokens(logits.clone(), 1, {1}, {});
  EXPECT_EQ(found.tokens.item<std::int64_t>(), 2);
  EXPECT_NEAR(found.scores.item<double>(), chances[0][2].item<double>(), 1e-12);
  EXPECT_EQ(top_tokens(logits.clone(), 1, {1}, {}, TokenScores::logits).scores.item<double>(), 2);
}

TEST(TopTokensTest, MoreThanThereAreAreAllOfThem) {
  EXPECT_EQ(top_tokens(torch::randn({2, 3}), 50, {}, {}).tokens.size(1), 3);
}

}  // namespace top_tokens_test
}  // namespace pagoda
