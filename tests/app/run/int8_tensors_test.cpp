#include "run/int8_tensors.h"

#include <pagoda/base/error.h>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda::app {
namespace int8_tensors_test {

std::vector<std::string> names_of(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Int8TensorsTest, MatricesAreNarrowedAndTheRestStays) {
  const std::vector<NamedTensor> weights{{"bias", torch::randn({4})},
                                         {"convolution", torch::randn({4, 3, 2, 2})},
                                         {"counter", torch::ones({2, 2}, torch::kLong)},
                                         {"weight", torch::randn({4, 5})}};
  const auto narrow = int8_tensors(weights);
  EXPECT_EQ(names_of(narrow), (Names{"bias", "convolution.int8", "convolution.scale", "counter",
                                     "weight.int8", "weight.scale"}));
  const auto wide = widened_tensors(narrow);
  ASSERT_EQ(names_of(wide), names_of(weights));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    EXPECT_EQ(wide[i].tensor.sizes(), weights[i].tensor.sizes());
    EXPECT_TRUE(at::allclose(wide[i].tensor, weights[i].tensor, 0, 0.03)) << weights[i].name;
  }
  EXPECT_TRUE(wide[0].tensor.equal(weights[0].tensor));
}

TEST(Int8TensorsTest, EightBitsWithoutTheirScalesAreRefused) {
  const at::Tensor values = torch::ones({2, 3}, torch::kChar);
  EXPECT_THROW(widened_tensors({{"w.int8", values}}), DataError);
  EXPECT_THROW(widened_tensors({{"w.int8", values}, {"w.scale", torch::ones({3})}}), DataError);
  EXPECT_THROW(widened_tensors({{"w.int8", values}, {"w.scale", torch::ones({2}, torch::kLong)}}),
               DataError);
  EXPECT_EQ(names_of(widened_tensors({{"w.int8", values}, {"w.scale", torch::ones({2})}})),
            (Names{"w"}));
}

}  // namespace int8_tensors_test
}  // namespace pagoda::app
