#include "train/wire.h"

#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace wire_test {

/// A 16-bit type, and how far a value may be from what it is rounded to, as a part of it.
struct Rounding {
  WireType type;
  double part;
};

class WireTest : public ::testing::TestWithParam<Rounding> {};
INSTANTIATE_TEST_SUITE_P(Types, WireTest,
                         ::testing::Values(Rounding{WireType::bf16, std::ldexp(1, -8)},
                                           Rounding{WireType::fp16, std::ldexp(1, -11)}));

at::Tensor waves(std::int64_t count, double factor) {
  return (torch::arange(count, torch::kDouble) * 0.7).sin().mul(factor).to(torch::kFloat);
}

TEST_P(WireTest, RoundsAndKeepsWhatIsLost) {
  const Wire wire(GetParam().type, at::kFloat);
  for (const std::int64_t count : {0, 1, 7, 1021}) {
    for (const double factor : {1e-30, 1e-6, 1.0, 1e6, 1e30}) {  // most are beyond fp16 by far
      const at::Tensor values = waves(count, factor);
      const at::Tensor lost = torch::zeros({count});
      const at::Tensor message = wire.room(count);
      wire.encode(values, lost, message);
      const at::Tensor found = wire.decoded(message);
      ASSERT_EQ(found.numel(), count);
      EXPECT_TRUE(((found - values).abs() <= factor * GetParam().part).all().item<bool>());
      EXPECT_TRUE((found + lost).allclose(values, 1e-6, 0));
      EXPECT_EQ(message.element_size(), 2);
    }
  }
}

TEST_P(WireTest, WhatIsLostComesLater) {
  const Wire wire(GetParam().type, at::kFloat);
  constexpr int kSteps = 50;
  const at::Tensor values = waves(101, 1).to(torch::kDouble).mul(1 + 1e-3).to(torch::kFloat);
  const at::Tensor lost = torch::zeros({101});
  at::Tensor total = torch::zeros({101}, torch::kDouble);
  for (int step = 0; step < kSteps; ++step) {
    const at::Tensor message = wire.room(101);
    wire.encode(values, lost, message);
    total += wire.decoded(message);
  }
  // Without the feedback the error of each step would be the same, and add up.
  const at::Tensor error = (total - values.to(torch::kDouble) * kSteps).abs();
  EXPECT_LT(error.max().item<double>(), 2 * GetParam().part);
}

TEST_P(WireTest, WhatIsNotFiniteArrivesAndEndsThere) {
  const Wire wire(GetParam().type, at::kFloat);
  const at::Tensor values = torch::tensor({1.0F, INFINITY, NAN, -INFINITY});
  const at::Tensor lost = torch::zeros({4});
  const at::Tensor message = wire.room(4);
  wire.encode(values, lost, message);
  const at::Tensor found = wire.decoded(message);
  EXPECT_EQ(found[0].item<float>(), 1);
  EXPECT_EQ(found[1].item<float>(), INFINITY);
  EXPECT_TRUE(std::isnan(found[2].item<float>()));
  EXPECT_TRUE(lost.equal(torch::zeros({4})));
}

TEST(WirePlainTest, DoubleValuesAndFp32TravelAsTheyAre) {
  EXPECT_TRUE(Wire(WireType::fp32, at::kFloat).is_plain());
  const Wire wire(WireType::bf16, at::kDouble);
  EXPECT_TRUE(wire.is_plain());
  EXPECT_EQ(wire.room(3).scalar_type(), at::kDouble);
  const at::Tensor values = waves(5, 1).to(torch::kDouble);
  EXPECT_TRUE(wire.decoded(values).is_same(values));
}

}  // namespace wire_test
}  // namespace pagoda
