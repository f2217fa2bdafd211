#include "models/fast_linear.h"

#include <ATen/ops/linear.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace fast_linear_test {

/// Result and gradients of a linear layer, by either way.
template <class Linear>
std::vector<at::Tensor> computed(Linear linear, at::ScalarType type, bool frozen) {
  torch::manual_seed(3);
  const at::Tensor x = torch::randn({5, 61, 256}, type).set_requires_grad(true);
  const at::Tensor weight = torch::randn({128, 256}, type).set_requires_grad(!frozen);
  const at::Tensor bias = torch::randn({128}, type).set_requires_grad(true);
  const at::Tensor y = linear(x, weight, bias);
  (y * torch::randn(y.sizes(), type)).sum().backward();
  return {y.detach(), x.grad(), weight.grad(), bias.grad()};
}

TEST(FastLinearTest, EqualsLibTorchsInResultAndGradients) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (const bool frozen : {false, true}) {
      const auto ours = computed(fast_linear, type, frozen);
      const auto theirs = computed([](const at::Tensor& x, const at::Tensor& w,
                                      const at::Tensor& b) { return at::linear(x, w, b); },
                                   type, frozen);
      for (std::size_t i = 0; i < ours.size(); ++i) {
        ASSERT_EQ(ours[i].defined(), theirs[i].defined());
        if (!ours[i].defined()) continue;
        EXPECT_TRUE(at::allclose(ours[i], theirs[i], 1e-4, 1e-3)) << i;
      }
    }
  }
}

TEST(FastLinearTest, TakesRowsOfAnyShapeAndNone) {
  const at::Tensor weight = torch::randn({7, 3});
  const at::Tensor bias = torch::randn({7});
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{3}, {0, 3}, {1, 3}, {2, 0, 3}, {2, 4, 3}}) {
    const at::Tensor x = torch::randn(shape);
    EXPECT_TRUE(at::allclose(fast_linear(x, weight, bias), at::linear(x, weight, bias)));
  }
}

}  // namespace fast_linear_test
}  // namespace pagoda
