#include "pipeline/boundary.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace boundary_test {

TEST(BoundaryTest, OnlyWhatNeedsAGradientWantsOne) {
  const at::Tensor weight = torch::ones({2}, torch::requires_grad());
  const Parcel parcel = parcel_of({weight * 2, torch::ones({2}), torch::arange(2)});
  EXPECT_EQ(parcel.wants_gradient, (std::vector<char>{1, 0, 0}));
  const Tensors leaves = unpack(parcel, torch::kCPU);
  EXPECT_TRUE(leaves[0].is_leaf() && leaves[0].requires_grad());
  EXPECT_FALSE(leaves[1].requires_grad());
}

TEST(BoundaryTest, WithoutAGraphAllFloatingPointTensorsMayWantOne) {
  const Tensors outputs{torch::ones({2}), torch::arange(2)};
  EXPECT_EQ(parcel_of(outputs, true).wants_gradient, (std::vector<char>{1, 0}));
  EXPECT_EQ(parcel_of(outputs, false).wants_gradient, (std::vector<char>{0, 0}));
}

TEST(BoundaryTest, GradientsCrossTheBoundaryAsIfItWereNotThere) {
  const at::Tensor x = torch::tensor({0.5, -1.5}, torch::kDouble).requires_grad_();
  const auto first = [](const at::Tensor& t) -> Tensors { return {t.sin(), t.square(), t}; };
  const auto second = [](const Tensors& t) { return (t[0] * t[1]).sum() + t[2].exp().sum(); };
  second(first(x)).backward();
  const at::Tensor whole = x.grad().clone();

  x.mutable_grad().reset();
  const Tensors sent = first(x);
  const Tensors received = unpack(parcel_of(sent), torch::kCPU);
  second(received).backward();
  backward_from(sent, take_gradients(received));
  EXPECT_TRUE(torch::allclose(x.grad(), whole, 0, 1e-15));
  EXPECT_FALSE(received[0].grad().defined()) << "taken";
}

TEST(BoundaryTest, AnUnusedTensorHasNoGradientAndNothingFollows) {
  const at::Tensor x = torch::ones({2}, torch::requires_grad());
  const Tensors gradients = take_gradients(unpack(parcel_of({x * 2}), torch::kCPU));
  ASSERT_EQ(gradients.size(), 1u);
  EXPECT_FALSE(gradients[0].defined());
  backward_from({x * 2}, gradients);
  EXPECT_FALSE(x.grad().defined());
}

TEST(BoundaryTest, TensorsAreCopiedBetweenCards) {
  const at::Tensor x = torch::ones({2}, testing::on_card(0)).requires_grad_();
  const at::Tensor output = x * 3;
  const Tensors received = unpack(parcel_of({output}), torch::Device(at::kPrivateUse1, 1));
  EXPECT_EQ(received[0].device(), torch::Device(at::kPrivateUse1, 1));
  received[0].sum().backward();
  const at::Tensor gradient = take_gradients(received)[0].to(output.device());
  backward_from({output}, {gradient});
  EXPECT_TRUE(x.grad().cpu().equal(torch::full({2}, 3.0f)));
}

}  // namespace boundary_test
}  // namespace pagoda
