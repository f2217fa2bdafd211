#include <pagoda/base/error.h>
#include <pagoda/models/attention.h>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace attention_test {

class AttentionTest : public ::testing::TestWithParam<AttentionKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, AttentionTest,
                         ::testing::Values(AttentionKind::luong, AttentionKind::bahdanau));

TEST_P(AttentionTest, WeighsPlacesByTheirFitAndNeverLooksAtPadding) {
  torch::manual_seed(1);
  Attention attention(GetParam(), 4, 3);
  attention->to(torch::kDouble);
  const at::Tensor queries = torch::randn({2, 5, 4}, torch::kDouble);
  const at::Tensor memory = torch::randn({2, 6, 3}, torch::kDouble);
  at::Tensor padding = torch::zeros({2, 6}, torch::kBool);
  padding[1].narrow(0, 2, 4).fill_(true);
  const Attended attended = attention->forward(queries, memory, attention->keys(memory), padding);
  const auto parameters = attention->named_parameters();
  for (std::int64_t b = 0; b < 2; ++b) {
    const std::int64_t places = b == 0 ? 6 : 2;
    for (std::int64_t q = 0; q < 5; ++q) {
      at::Tensor scores = torch::empty({places}, torch::kDouble);
      for (std::int64_t s = 0; s < places; ++s) {
        const at::Tensor key = parameters["key.weight"].matmul(memory[b][s]);
        if (GetParam() == AttentionKind::luong) {
          scores[s] = queries[b][q].dot(key);
        } else {
          const at::Tensor query =
              parameters["query.weight"].matmul(queries[b][q]) + parameters["query.bias"];
          scores[s] = parameters["energy.weight"][0].dot((query + key).tanh());
        }
      }
      const at::Tensor weights = scores.softmax(0);
      EXPECT_TRUE(torch::allclose(attended.weights[b][q].narrow(0, 0, places), weights));
      EXPECT_TRUE(attended.weights[b][q].narrow(0, places, 6 - places).eq(0).all().item<bool>());
      const at::Tensor context = weights.matmul(memory[b].narrow(0, 0, places));
      EXPECT_TRUE(torch::allclose(attended.context[b][q], context));
    }
  }
}

TEST(AttentionKindTest, HasNames) {
  EXPECT_EQ(attention_kind("luong"), AttentionKind::luong);
  EXPECT_EQ(attention_kind("bahdanau"), AttentionKind::bahdanau);
  EXPECT_THROW(attention_kind("dot"), UsageError);
}

}  // namespace attention_test
}  // namespace pagoda
