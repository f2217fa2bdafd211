#include "reduce/packed_tensors.h"

#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "sim/sim_card.h"
#include "support/machines.h"

namespace pagoda {
namespace packed_tensors_test {

std::vector<at::Tensor> odd_tensors(const at::Device& device) {
  const auto options = at::TensorOptions(device);
  return {torch::arange(6.0, options).reshape({2, 3}).t(), torch::full({}, 3, options).to(at::kLong),
          torch::ones({0}, options), torch::tensor({1.5, 2.5}).to(at::kDouble).to(device),
          torch::full({1, 2, 1}, -4.0, options)};
}

TEST(PackedTensorsTest, ComeAndGoUnchanged) {
  const auto expected = odd_tensors(at::kCPU);
  for (const at::Device& device : {at::Device(at::kCPU), testing::on_card(1).device()}) {
    const auto tensors = odd_tensors(device);
    const auto values = packed_to_host(tensors);
    const auto copies = odd_tensors(device);
    for (const auto& copy : copies) copy.zero_();
    packed_from_host(values, copies);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_TRUE(values[i].is_cpu());
      EXPECT_TRUE(values[i].equal(expected[i])) << i;
      EXPECT_TRUE(copies[i].cpu().equal(expected[i])) << i;
    }
  }
}

TEST(PackedTensorsTest, OneCopyForEachType) {
  PAGODA_NEEDS_SIMULATED_CARDS();
  const auto tensors = odd_tensors(testing::on_card(1).device());
  const auto copies = [](SimCard::Way way) { return sim_card(1).traffic(way).copies; };
  const auto out = copies(SimCard::Way::out_of_card);
  const auto values = packed_to_host(tensors);
  EXPECT_EQ(copies(SimCard::Way::out_of_card) - out, 3);
  const auto in = copies(SimCard::Way::into_card);
  packed_from_host(values, tensors);
  EXPECT_EQ(copies(SimCard::Way::into_card) - in, 3);
}

TEST(PackedTensorsTest, TensorsMayLieOnSeveralDevices) {
  std::vector<at::Tensor> tensors;
  for (const at::Device& device :
       {testing::on_card(1).device(), at::Device(at::kCPU), testing::on_card(0).device()})
    tensors.push_back(torch::full({2}, static_cast<double>(tensors.size()), device));
  const auto values = packed_to_host(tensors);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_TRUE(values[i].eq(static_cast<double>(i)).all().item<bool>());
  packed_from_host({values[2].clone(), values[0].clone(), values[1].clone()}, tensors);
  EXPECT_EQ(tensors[0].sum().item<float>(), 4);
  EXPECT_EQ(tensors[1].sum().item<float>(), 0);
  EXPECT_EQ(tensors[2].sum().item<float>(), 2);
}

TEST(PackedTensorsTest, NothingIsNothing) {
  EXPECT_TRUE(packed_to_host({}).empty());
  packed_from_host({}, {});
}

}  // namespace packed_tensors_test
}  // namespace pagoda
