#include "sim/boxed_kernel.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace boxed_kernel_test {

using testing::on_sim;

at::Tensor formula(std::int64_t rows, std::int64_t columns) {
  return at::arange(rows * columns, at::kDouble).reshape({rows, columns}).sin();
}

TEST(BoxedKernelTest, OperatorsGiveTheNumbersOfTheCpu) {
  const at::Tensor a = formula(3, 5);
  const at::Tensor b = formula(5, 4);
  const at::Tensor on_a = a.to(on_sim(1).device());
  const at::Tensor on_b = b.to(on_sim(1).device());
  const auto same = [](const at::Tensor& card, const at::Tensor& cpu) {
    return card.device() == on_sim(1).device() && card.cpu().equal(cpu);
  };
  EXPECT_TRUE(same(on_a.mm(on_b), a.mm(b)));  // structured
  EXPECT_TRUE(same(at::softmax(on_a, 1), at::softmax(a, 1)));
  EXPECT_TRUE(same(at::cat({on_a, on_a}), at::cat({a, a})));                           // a list
  EXPECT_TRUE(same(on_a.index({at::tensor({2, 0})}), a.index({at::tensor({2, 0})})));  // host index
  EXPECT_TRUE(same(std::get<1>(on_a.sort(1)), std::get<1>(a.sort(1))));  // two results
  EXPECT_TRUE(same(on_a * at::scalar_tensor(2.0, at::kDouble), a * 2));  // a host number
  EXPECT_TRUE(same(on_a.clone().mul_(3).t().contiguous(), (a * 3).t().contiguous()));
  EXPECT_TRUE(same(on_a.unfold(1, 2, 1), a.unfold(1, 2, 1)));  // a view
  EXPECT_TRUE(on_a.unfold(1, 2, 1).is_alias_of(on_a));
  EXPECT_TRUE(same(on_a.masked_select(on_a > 0), a.masked_select(a > 0)));
  EXPECT_EQ(on_a.sum().item<double>(), a.sum().item<double>());
}

TEST(BoxedKernelTest, TensorsOfDifferentDevicesAreAnError) {
  const at::Tensor first = at::ones({2, 2}, on_sim(0));
  const at::Tensor second = at::ones({2, 2}, on_sim(1));
  const at::Tensor host = at::ones({2, 2});
  EXPECT_ANY_THROW(first + second);
  EXPECT_ANY_THROW(first + host);
  EXPECT_THROW(first.mm(second), UsageError);
  EXPECT_THROW(first.mm(host), UsageError);
  EXPECT_ANY_THROW(at::cat({first, second}));
  try {
    first.mm(second);
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("sim:0 and sim:1"), std::string::npos) << text;
  }
}

TEST(BoxedKernelTest, CopiesGoBetweenAllDevices) {
  const at::Tensor host = formula(2, 3);
  const at::Tensor first = host.to(on_sim(0).device());
  const at::Tensor second = first.to(on_sim(3).device(), at::kFloat);
  EXPECT_EQ(second.device(), on_sim(3).device());
  EXPECT_TRUE(second.cpu().equal(host.to(at::kFloat)));
  at::Tensor wide = at::zeros({4, 2, 3}, on_sim(2).dtype(at::kDouble));
  wide.copy_(first);  // broadcast, from another card
  EXPECT_TRUE(wide.cpu().equal(host.expand({4, 2, 3})));
}

TEST(BoxedKernelTest, SparseGradientsAddUp) {
  const at::Tensor weight = at::zeros({5, 2}, on_sim(0)).requires_grad_();
  const at::Tensor words = at::tensor({1, 3, 1}).to(on_sim(0).device());
  for (int i = 0; i < 2; ++i) {
    at::embedding(weight, words, -1, false, /*sparse=*/true).sum().backward();
  }
  ASSERT_TRUE(weight.grad().is_sparse());
  const at::Tensor expected = at::tensor({0, 4, 0, 2, 0}, at::kFloat).unsqueeze(1).expand({5, 2});
  EXPECT_TRUE(weight.grad().to_dense().cpu().equal(expected));
  const at::Tensor rows = weight.grad().to(at::kCPU).coalesce();
  EXPECT_TRUE(rows.indices()[0].equal(at::tensor({1, 3})));
}

TEST(BoxedKernelTest, SparseAndDenseGradientsOfATiedWeightAddUp) {
  const auto gradient = [](const c10::Device& device) {
    const at::Tensor weight = at::arange(12.0).view({4, 3}).to(device).requires_grad_();
    const at::Tensor words = at::tensor({1, 3, 1}, at::kLong).to(device);
    const at::Tensor rows = at::embedding(weight, words, -1, false, /*sparse=*/true);
    at::linear(rows, weight).square().sum().backward();
    return weight.grad().cpu();
  };
  EXPECT_TRUE(at::allclose(gradient(on_sim(0).device()), gradient(at::kCPU)));
}

TEST(BoxedKernelTest, RowsAreScaledInPlace) {
  for (const auto& device : {c10::Device(at::kCPU), on_sim(1).device()}) {
    const at::Tensor rows =
        at::sparse_coo_tensor(at::tensor({1, 3, 1}, at::kLong).view({1, 3}), formula(3, 2), {5, 2})
            .to(device);
    const at::Tensor before = rows.to_dense().cpu();
    rows.mul_(0.5);
    EXPECT_TRUE(at::allclose(rows.to_dense().cpu(), before / 2)) << device;
  }
}

}  // namespace boxed_kernel_test
}  // namespace pagoda
