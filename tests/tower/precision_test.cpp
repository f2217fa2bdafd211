#include <pagoda/base/error.h>
#include <pagoda/tower/precision.h>
#include <pagoda/tower/towers.h>

#include <string>

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "support/machines.h"

namespace pagoda {
namespace precision_test {

using testing::Machine;

at::ScalarType product_type(const Device& device, Precision precision) {
  const auto options = at::TensorOptions().device(device.torch_device());
  const PrecisionScope scope(precision, device);
  return at::mm(at::ones({2, 3}, options), at::ones({3, 2}, options)).scalar_type();
}

TEST(PrecisionTest, ProductsHaveItOnCpuTowersAndOnCards) {
  for (const Machine& machine : {Machine(1), Machine(1, DeviceKind::sim)}) {
    const Device device = machine.devices().front();
    EXPECT_EQ(product_type(device, Precision::fp32), at::kFloat) << machine.name();
    EXPECT_EQ(product_type(device, Precision::bf16), at::kBFloat16) << machine.name();
    EXPECT_EQ(product_type(device, Precision::fp16), at::kHalf) << machine.name();
  }
}

TEST(PrecisionTest, DoubleStaysDouble) {
  const Device device = Machine(1).devices().front();
  const PrecisionScope scope(Precision::fp16, device);
  EXPECT_EQ(at::mm(at::ones({2, 2}, at::kDouble), at::ones({2, 2}, at::kDouble)).scalar_type(),
            at::kDouble);
}

TEST(PrecisionTest, HasNames) {
  EXPECT_EQ(precision_name(Precision::fp32), std::string("fp32"));
  EXPECT_EQ(precision_name(Precision::bf16), std::string("bf16"));
  EXPECT_EQ(precision_name(Precision::fp16), std::string("fp16"));
  EXPECT_EQ(precision_of("bf16"), Precision::bf16);
  EXPECT_THROW(precision_of("int8"), UsageError);
}

TEST(PrecisionTest, CardsAreFastInAllAndCpusInWhatTheyHaveInstructionsFor) {
  const Device cpu = Machine(1).devices().front();
  EXPECT_TRUE(is_fast(Precision::fp32, cpu));
  for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16}) {
    EXPECT_TRUE(is_fast(precision, {.kind = DeviceKind::cuda}));
    EXPECT_EQ(is_fast(precision, {.kind = DeviceKind::sim}), is_fast(precision, cpu));
    const std::string text = slow_precision_text(precision, {{.kind = DeviceKind::cuda}, cpu});
    EXPECT_EQ(text.empty(), is_fast(precision, cpu));
    if (!text.empty()) {
      EXPECT_NE(text.find("cpu:0"), std::string::npos) << text;
    }
  }
}

TEST(PrecisionTest, MatrixProductsOfFp32HaveThreeLevels) {
  const auto before = at::globalContext().float32MatmulPrecision();
  set_matmul_precision(MatmulPrecision::high);
  EXPECT_EQ(at::globalContext().float32MatmulPrecision(), at::Float32MatmulPrecision::HIGH);
  set_matmul_precision(MatmulPrecision::medium);
  EXPECT_EQ(at::globalContext().float32MatmulPrecision(), at::Float32MatmulPrecision::MEDIUM);
  set_matmul_precision(MatmulPrecision::highest);
  EXPECT_EQ(at::globalContext().float32MatmulPrecision(), at::Float32MatmulPrecision::HIGHEST);
  EXPECT_EQ(before, at::Float32MatmulPrecision::HIGHEST);
}

}  // namespace precision_test
}  // namespace pagoda
