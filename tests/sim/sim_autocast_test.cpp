#include "sim/sim_autocast.h"

#include <pagoda/base/autocast.h>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace sim_autocast_test {

using testing::on_sim;

class SimAutocastTest : public ::testing::Test {
 protected:
  const AutocastScope scope_{at::kPrivateUse1, {.cached = false, .type = at::kBFloat16}};
  const at::Tensor x_ = at::ones({2, 3}, on_sim(0));
};

TEST_F(SimAutocastTest, ProductsAndConvolutionsAreIn16Bits) {
  EXPECT_EQ(at::mm(x_, x_.t()).scalar_type(), at::kBFloat16);
  EXPECT_EQ(at::linear(x_, at::ones({4, 3}, on_sim(0)), at::ones({4}, on_sim(0))).scalar_type(),
            at::kBFloat16);
  EXPECT_EQ(at::conv2d(at::ones({1, 2, 5, 5}, on_sim(0)), at::ones({3, 2, 3, 3}, on_sim(0)))
                .scalar_type(),
            at::kBFloat16);
}

TEST_F(SimAutocastTest, SoftmaxSumsAndLossesAreInFp32) {
  const at::Tensor narrow = at::mm(x_, x_.t());
  EXPECT_EQ(narrow.softmax(1).scalar_type(), at::kFloat);
  EXPECT_EQ(narrow.log().scalar_type(), at::kFloat);
  EXPECT_EQ(narrow.sum().scalar_type(), at::kFloat);
  EXPECT_EQ(at::mse_loss(narrow, narrow).scalar_type(), at::kFloat);
  EXPECT_EQ(narrow.norm().scalar_type(), at::kFloat);
}

TEST_F(SimAutocastTest, OtherOperatorsTakeWhatTheyAreGiven) {
  EXPECT_EQ((x_ + x_).scalar_type(), at::kFloat);
  EXPECT_EQ(at::mm(x_, x_.t()).relu().scalar_type(), at::kBFloat16);
  EXPECT_EQ(
      at::addcmul(at::mm(x_, x_.t()), at::ones({2, 2}, on_sim(0)), at::ones({2, 2}, on_sim(0)))
          .scalar_type(),
      at::kFloat);
}

TEST_F(SimAutocastTest, GradientsOfParametersAreInFp32) {
  const at::Tensor weight = torch::ones({4, 3}, on_sim(0)).requires_grad_();
  at::linear(x_, weight).sum().backward();
  EXPECT_EQ(weight.grad().scalar_type(), at::kFloat);
  EXPECT_TRUE(weight.grad().cpu().eq(2).all().item<bool>());
}

}  // namespace sim_autocast_test
}  // namespace pagoda
