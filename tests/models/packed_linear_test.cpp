#include "models/packed_linear.h"

#include <pagoda/models/int8_weights.h>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/fast_product.h"
#include "support/tiny_translation.h"

namespace pagoda {
namespace packed_linear_test {

TEST(PackedLinearTest, IsTheProductForAnyNumberOfRows) {
  torch::manual_seed(1);
  const at::NoGradGuard no_grad;
  for (const std::int64_t in : {1, 7, 128}) {
    const at::Tensor weight = torch::randn({1031, in}), bias = torch::randn({1031});
    const auto packed = PackedLinear::make(weight, bias);
    if (!prefers_onednn()) {
      EXPECT_EQ(packed, nullptr);
      continue;
    }
    ASSERT_NE(packed, nullptr);
    for (const std::int64_t rows : {0, 1, 15, 16, 17, 70}) {
      const at::Tensor x = torch::randn({rows, in});
      const at::Tensor found = (*packed)(x);
      EXPECT_TRUE(found.is_contiguous());
      EXPECT_TRUE(at::allclose(found, at::linear(x, weight, bias), 1e-4, 1e-4)) << rows;
    }
  }
}

TEST(PackedLinearTest, IsNotMadeWhereItWouldNotHelp) {
  const at::Tensor bias = torch::zeros({2000});
  EXPECT_EQ(PackedLinear::make(torch::zeros({10, 8}), torch::zeros({10})), nullptr);
  EXPECT_EQ(PackedLinear::make(torch::zeros({2000, 8}, torch::kDouble), bias), nullptr);
  EXPECT_EQ(PackedLinear::make(torch::zeros({8, 2000}).t(), bias), nullptr);
  EXPECT_EQ(PackedLinear::make(torch::zeros({2000, 0}), bias), nullptr);
}

TEST(PackedLinearTest, PreparedLogitsAreTheLogits) {
  torch::manual_seed(2);
  auto options = testing::tiny_transformer_options();
  options.target_vocabulary = 1500;
  TransformerImpl model(options);
  const at::NoGradGuard no_grad;
  const at::Tensor hidden = torch::randn({5, options.hidden});
  EXPECT_TRUE(at::allclose(model.prepared_logits()(hidden), model.logits(hidden), 1e-5, 1e-5));
  Int8Products products;
  model.use_int8(products);
  EXPECT_TRUE(model.prepared_logits()(hidden).equal(model.logits(hidden)));
}

}  // namespace packed_linear_test
}  // namespace pagoda
