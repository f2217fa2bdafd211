#include "sim/sim_kernels.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace sim_kernels_test {

using testing::on_sim;
using testing::OtherSimMachine;

TEST(SimKernelsTest, ViewsAndMemoryOperatorsWork) {
  at::Tensor x = at::arange(6, on_sim(0).dtype(at::kFloat));
  EXPECT_EQ(x.view({2, 3}).size(0), 2);
  EXPECT_TRUE(x.as_strided({2}, {3}).is_alias_of(x));
  EXPECT_EQ(x.as_strided({2}, {3}, 1).sum().item<float>(), 1 + 4);
  x.resize_({2, 4});
  EXPECT_EQ(x.slice(0, 0, 1).sum().item<float>(), 0 + 1 + 2 + 3);
  at::Tensor y = at::empty({0}, on_sim(0));
  y.set_(x);
  EXPECT_TRUE(y.is_alias_of(x));
  y.set_(x.storage());
  EXPECT_EQ(y.numel(), 8);
  EXPECT_EQ(at::empty_strided({2, 3}, {1, 2}, on_sim(3)).stride(1), 2);
  const at::Tensor image = at::empty({1, 2, 3, 4}, on_sim(0), at::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(image.is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST(SimKernelsTest, AModuleMovesToACardAndBack) {
  torch::nn::Linear layer(3, 2);
  const at::Tensor before = layer->weight.detach().clone();
  layer->to(on_sim(2).device());
  EXPECT_EQ(layer->weight.device(), on_sim(2).device());
  layer->to(at::kCPU);
  EXPECT_TRUE(layer->weight.detach().equal(before));
}

TEST(SimKernelsTest, AKernelCanBeMissingAndComesBack) {
  const at::Tensor x = at::ones({4}, on_sim(0));
  {
    const OtherSimMachine machine(1, {.missing_kernels = {"aten::cumsum.out"}});
    EXPECT_ANY_THROW(x.cumsum(0));
    EXPECT_EQ((x + x).sum().item<float>(), 8);
  }
  EXPECT_EQ(x.cumsum(0)[3].item<float>(), 4);
  EXPECT_THROW(register_sim_kernels({"aten::no_such_thing"}), UsageError);
}

}  // namespace sim_kernels_test
}  // namespace pagoda
