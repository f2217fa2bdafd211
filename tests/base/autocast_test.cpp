#include <pagoda/base/autocast.h>

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace {

at::ScalarType product_type() {
  return torch::mm(torch::ones({2, 3}), torch::ones({3, 2})).scalar_type();
}

TEST(AutocastTest, HoldsWhileItLivesAlsoInsideOfEachOther) {
  {
    const AutocastScope outer(at::kCPU, {.type = at::kBFloat16});
    EXPECT_EQ(product_type(), at::kBFloat16);
    {
      const AutocastScope off(at::kCPU, {.enabled = false});
      EXPECT_EQ(product_type(), at::kFloat);
      const AutocastScope half(at::kCPU, {.type = at::kHalf});
      EXPECT_EQ(product_type(), at::kHalf);
    }
    EXPECT_EQ(product_type(), at::kBFloat16);
  }
  EXPECT_EQ(product_type(), at::kFloat);
}

TEST(AutocastTest, WithoutACacheEveryUseOfAParameterSeesItsValueOfThatMoment) {
  const at::Tensor weight = torch::ones({3, 2}).requires_grad_();
  const at::Tensor x = torch::ones({2, 3});
  for (const bool cached : {true, false}) {
    const torch::NoGradGuard no_grad;
    weight.fill_(1);
    const AutocastScope scope(at::kCPU, {.cached = cached, .type = at::kBFloat16});
    const at::AutoGradMode with_grad(true);
    torch::mm(x, weight);
    weight.detach().fill_(2);
    EXPECT_EQ(torch::mm(x, weight)[0][0].item<float>(), cached ? 3 : 6);
  }
}

TEST(AutocastTest, IsAsBeforeAfterAnException) {
  try {
    const AutocastScope scope(at::kCPU, {.cached = false, .type = at::kHalf});
    throw 1;
  } catch (int) {
  }
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  EXPECT_TRUE(at::autocast::is_autocast_cache_enabled());
  EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), at::kBFloat16);
}

}  // namespace
}  // namespace pagoda
