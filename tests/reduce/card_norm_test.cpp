#include "reduce/card_norm.h"

#include <pagoda/memory/memory_account.h>

#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/formula_data.h"
#include "support/machines.h"

namespace pagoda {
namespace card_norm_test {

using testing::first_cards;
using testing::waves;

/// A parameter with a dense gradient, one with rows (one of them twice), one without.
struct Parameters {
  explicit Parameters(at::Device device) : device(device) {
    add("dense", waves({13, 7}, 0, 0.3)).mutable_grad() = waves({13, 7}, 5, 0.9).to(device);
    add("rows", waves({5, 2}, 1, 0.4)).mutable_grad() =
        torch::sparse_coo_tensor(
            torch::tensor({{1, 3, 1}}),
            torch::tensor({{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}, torch::kDouble), {5, 2})
            .to(device);
    add("unused", waves({4}, 2, 0.5));
  }

  const at::Tensor& add(const char* name, const at::Tensor& values) {
    all.push_back({name, values.to(torch::kDouble).to(device).requires_grad_()});
    return all.back().tensor;
  }

  /// Of scale · gradient + l2 · parameter, written out.
  double norm(double scale, double l2) const {
    double squares = 0;
    for (const auto& [name, parameter] : all) {
      if (!parameter.grad().defined()) continue;
      at::Tensor gradient = parameter.grad().cpu();
      if (gradient.is_sparse()) gradient = gradient.to_dense();
      squares += (scale * gradient + l2 * parameter.detach().cpu()).square().sum().item<double>();
    }
    return std::sqrt(squares);
  }

  at::Device device;
  std::vector<NamedTensor> all;
};

std::vector<at::Device> devices() { return {at::kCPU, first_cards(2)[1].torch_device()}; }

TEST(CardNormTest, EqualsTheFormula) {
  for (const auto& device : devices()) {
    const Parameters parameters(device);
    for (const double scale : {1.0, 0.25}) {
      for (const double l2 : {0.0, 0.3}) {
        const std::vector<double> each(parameters.all.size(), l2);
        EXPECT_NEAR(own_gradient_norm(parameters.all, scale, each), parameters.norm(scale, l2),
                    1e-13);
      }
    }
  }
}

TEST(CardNormTest, NeedsLessMemoryThanTheGradient) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  const auto device = first_cards(1)[0].torch_device();
  const std::int64_t rows = 3000;
  const at::Tensor parameter = torch::ones({rows, 1001}, device).requires_grad_();
  parameter.mutable_grad() = torch::full({rows, 1001}, 0.5, device);
  MemoryAccount& memory = sim_card_memory(0);
  memory.reset_peak();
  const std::int64_t before = memory.in_use();
  EXPECT_NEAR(own_gradient_norm({{"large", parameter}}, 4, {3}),
              5 * std::sqrt(static_cast<double>(parameter.numel())), 1e-6);
  EXPECT_LT(memory.peak() - before, parameter.numel() * 4);
}

TEST(CardNormTest, OfNothingIsZero) { EXPECT_EQ(own_gradient_norm({}, 1, {}), 0); }

TEST(CardNormTest, ScalesDenseGradientsAndRows) {
  for (const auto& device : devices()) {
    const Parameters parameters(device);
    const double norm = parameters.norm(1, 0);
    scale_gradients(parameters.all, 0.5);
    EXPECT_NEAR(parameters.norm(1, 0), norm / 2, 1e-13);
    EXPECT_TRUE(parameters.all[1].tensor.grad().is_sparse());
    EXPECT_FALSE(parameters.all[2].tensor.grad().defined());
  }
}

TEST(CardNormTest, GradientsThatShareMemoryAreScaledOnce) {
  Parameters parameters(at::kCPU);
  const at::Tensor a = parameters.add("a", torch::ones({2, 3}));
  const at::Tensor b = parameters.add("b", torch::ones({2, 3}));
  (a.t() + b.t()).square().sum().backward();  // 4 for each element
  ASSERT_EQ(a.grad().data_ptr(), b.grad().data_ptr()) << "LibTorch has changed";
  scale_gradients(parameters.all, 0.5);
  EXPECT_TRUE(a.grad().equal(torch::full({2, 3}, 2, torch::kDouble)));
  EXPECT_TRUE(b.grad().equal(a.grad()));
}

}  // namespace card_norm_test
}  // namespace pagoda
