#include "models/fast_linear.h"

#include <pagoda/base/autocast.h>

#include <ATen/ops/linear.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/narrow_products.h"

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

TEST(FastLinearTest, UnderAutocastRoundsWhatItMultipliesAndNothingElse) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    for (const bool frozen : {false, true}) {
      const AutocastScope scope(at::kCPU, {.cached = false, .type = type});
      const auto ours = computed(fast_linear, at::kFloat, frozen);
      const auto rounded = [&](const at::Tensor& x) { return x.to(type).to(at::kFloat); };
      const auto theirs = computed(
          [&](const at::Tensor& x, const at::Tensor& w, const at::Tensor& b) {
            const WithoutAutocast in_fp32;
            return at::linear(rounded(x), rounded(w), b);
          },
          at::kFloat, frozen);
      const double step = type == at::kHalf ? 1e-3 : 8e-3;  // of the type's numbers around 1
      for (std::size_t i = 0; i < ours.size(); ++i) {
        ASSERT_EQ(ours[i].defined(), theirs[i].defined());
        if (!ours[i].defined()) continue;
        EXPECT_EQ(ours[i].scalar_type(), at::kFloat);
        EXPECT_LT(((ours[i] - theirs[i]).norm() / theirs[i].norm()).item<double>(), step) << i;
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
