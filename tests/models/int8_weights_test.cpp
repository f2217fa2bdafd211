#include <pagoda/base/error.h>
#include <pagoda/models/decoding.h>
#include <pagoda/models/int8_weights.h>
#include <pagoda/text/sequence_batches.h>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/int8_linear.h"
#include "support/tiny_translation.h"

namespace pagoda {
namespace int8_weights_test {

TEST(Int8WeightsTest, EachRowIsRoundedByItsOwnGreatestMagnitude) {
  torch::manual_seed(1);
  for (const std::int64_t width : {1, 5, 64}) {
    const at::Tensor matrix = torch::randn({7, width}) *
                              torch::tensor({1e-6, 1e-3, 1.0, 10.0, 1e3, 1e6, 0.0}).unsqueeze(1);
    const Int8Matrix narrow = int8_rows(matrix);
    EXPECT_EQ(narrow.values.scalar_type(), torch::kChar);
    const at::Tensor error = (narrow.widened() - matrix).abs();
    // Half a step of a row's own scale.
    EXPECT_TRUE((error <= narrow.scales.unsqueeze(1) * 0.50001).all().item<bool>());
    EXPECT_TRUE(narrow.widened()[6].equal(torch::zeros({width})));
    EXPECT_EQ(narrow.values.abs().max().item<int>(), 127);
  }
}

TEST(Int8WeightsTest, RoundingTwiceIsRoundingOnce) {
  torch::manual_seed(2);
  const Int8Matrix once = int8_rows(torch::randn({9, 3, 2}));
  EXPECT_EQ(once.values.sizes(), (std::vector<std::int64_t>{9, 3, 2}));
  EXPECT_TRUE(int8_rows(once.widened()).values.equal(once.values));
}

TEST(Int8WeightsTest, RowsOfOtherThingsAreRefused) {
  EXPECT_THROW(int8_rows(torch::randn({3})), UsageError);
  EXPECT_THROW(int8_rows(torch::ones({3, 3}, torch::kLong)), UsageError);
  EXPECT_EQ(int8_rows(torch::empty({3, 0})).scales.numel(), 3);
}

TEST(Int8WeightsTest, WeightsThatAreNotNumbersStayVisible) {
  at::Tensor matrix = torch::ones({2, 2});
  matrix[1][0] = std::nan("");
  EXPECT_TRUE(int8_rows(matrix).widened()[1].isnan().all().item<bool>());
}

TEST(Int8WeightsTest, AProductIsNearTheFullOneAndOfEachRowAlone) {
  torch::manual_seed(3);
  for (const auto& [in, out] : {std::pair{1, 1}, {13, 7}, {64, 96}, {128, 1000}}) {
    const at::Tensor weight = torch::randn({out, in}), bias = torch::randn({out});
    const at::Tensor x = torch::randn({11, in}) * torch::logspace(-3, 3, 11).unsqueeze(1);
    const Int8Linear linear(weight, bias);
    const at::Tensor found = linear(x);
    // Each product is off by half a step of both factors at most.
    const at::Tensor bound = x.abs().amax(1, true) * weight.abs().amax(1).unsqueeze(0) *
                             static_cast<double>(in) * 1.1 / 63;
    EXPECT_TRUE(((found - bias - at::linear(x, weight)).abs() <= bound + 1e-5).all().item<bool>());
    for (std::int64_t row = 0; row < x.size(0); ++row)
      EXPECT_TRUE(linear(x[row].unsqueeze(0)).equal(found[row].unsqueeze(0))) << row;
    EXPECT_EQ(linear(x.view({11, 1, in})).sizes(), (std::vector<std::int64_t>{11, 1, out}));
  }
  EXPECT_EQ(Int8Linear(torch::randn({4, 3}), torch::zeros({4}))(torch::empty({0, 3})).size(0), 0);
}

TEST(Int8WeightsTest, TheGreatestSumsDoNotOverflow) {
  // Pairs of products that 16 bits could not hold.
  const at::Tensor result =
      Int8Linear(torch::ones({32, 256}), torch::zeros({32}))(torch::ones({5, 256}));
  EXPECT_TRUE(at::allclose(result, torch::full({5, 32}, 256.0f), 1e-3));
}

TEST(Int8WeightsTest, OnlyFloatsOnTheCpuHaveProducts) {
  EXPECT_THROW(Int8Linear(torch::randn({2, 2}, torch::kDouble), torch::zeros({2})), UsageError);
}

TEST(Int8WeightsTest, ReplicasShareWhatIsMadeOfTheSameMemory) {
  Int8Products products;
  const at::Tensor weight = torch::randn({4, 4}), bias = torch::zeros({4});
  EXPECT_EQ(products.of(weight, bias), products.of(weight, bias));
  EXPECT_NE(products.of(weight, bias), products.of(weight.narrow(0, 0, 2), bias.narrow(0, 0, 2)));
}

/// Models of every kind decode nearly the same, and their gradients do not notice.
TEST(Int8WeightsTest, ModelsGiveNearlyTheSameLogits) {
  torch::manual_seed(4);
  auto gru = testing::tiny_options();
  gru.cell = Cell::gru;
  gru.bidirectional = true;
  auto post = testing::tiny_transformer_options();
  post.norm = NormPlace::after;
  const std::vector<std::shared_ptr<SequenceModel>> models{
      std::make_shared<Seq2SeqImpl>(testing::tiny_options()), std::make_shared<Seq2SeqImpl>(gru),
      std::make_shared<TransformerImpl>(testing::tiny_transformer_options()),
      std::make_shared<TransformerImpl>(post)};
  const SequenceBatch batch = sequence_batch(testing::tiny_pairs(20), {0, 1, 2, 3, 4, 5});
  for (const auto& model : models) {
    model->eval();
    const auto logits = [&] {
      const at::NoGradGuard no_grad;
      const auto state = model->start(batch.source, batch.source_lengths);
      const at::Tensor first = torch::full({6}, 2, torch::kLong);
      model->step(first, *state);
      return model->logits(model->step(first + 3, *state).hidden);
    };
    const auto loss = [&] {
      return model->loss(batch.source, batch.source_lengths, batch.target).loss.item<float>();
    };
    const at::Tensor before = logits();
    const float full_loss = loss();
    Int8Products products;
    model->use_int8(products);
    const at::Tensor after = logits();
    EXPECT_FALSE(after.equal(before));
    EXPECT_LT((after - before).norm().item<double>(), 0.05 * before.norm().item<double>());
    EXPECT_EQ(loss(), full_loss);
  }
}

}  // namespace int8_weights_test
}  // namespace pagoda
