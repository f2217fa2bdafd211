#include "models/affine.h"

#include <pagoda/models/int8_weights.h>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace affine_test {

TEST(AffineTest, SomeRowsAreThoseOfTheWhole) {
  torch::manual_seed(1);
  const at::Tensor weight = torch::randn({6, 4}), bias = torch::randn({6}),
                   x = torch::randn({5, 4});
  const at::Tensor all = Affine(weight, bias)(x);
  EXPECT_TRUE(at::allclose(all, at::linear(x, weight, bias)));
  EXPECT_TRUE(at::allclose(Affine(weight, bias, 2, 3)(x), all.narrow(1, 2, 3)));
}

TEST(AffineTest, FollowsItsParameters) {
  const at::Tensor weight = torch::zeros({2, 2}, torch::requires_grad()), bias = torch::zeros({2});
  const Affine affine(weight, bias);
  weight.set_data(torch::eye(2, torch::kDouble));
  bias.set_data(torch::ones({2}, torch::kDouble));
  EXPECT_TRUE(
      affine(torch::ones({1, 2}, torch::kDouble)).equal(torch::full({1, 2}, 2.0, torch::kDouble)));
}

TEST(AffineTest, EightBitsAreForWhatNeedsNoGradient) {
  torch::manual_seed(2);
  const at::Tensor weight = torch::randn({8, 16}, torch::requires_grad());
  Affine affine(weight, torch::zeros({8}));
  const at::Tensor x = torch::randn({3, 16});
  const at::Tensor full = affine(x);
  Int8Products products;
  affine.use_int8(products);
  EXPECT_TRUE(affine(x).equal(full));
  const at::NoGradGuard no_grad;
  const at::Tensor narrow = affine(x);
  EXPECT_FALSE(narrow.equal(full));
  EXPECT_TRUE(at::allclose(narrow, full, 0.05, 0.1));
}

}  // namespace affine_test
}  // namespace pagoda
