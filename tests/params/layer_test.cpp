#include <pagoda/params/layer.h>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace layer_test {

TEST(LayerTest, TensorsAreParametersAndBuffersOfAllModules) {
  const torch::nn::Linear linear(2, 3);
  const torch::nn::BatchNorm1d norm(3);
  const Tensors tensors = tensors_of(*linear, *norm);
  ASSERT_EQ(tensors.size(), 7u);  // weight, bias; weight, bias, mean, variance, count
  EXPECT_TRUE(tensors[0].is_same(linear->weight));
  EXPECT_TRUE(tensors[4].is_same(norm->running_mean));
}

TEST(LayerTest, ForwardTakesOneTensorOrAList) {
  const Layer one = layer("one", {}, [](const at::Tensor& x) { return x + 1; });
  EXPECT_EQ(one.forward({torch::zeros({})})[0].item<float>(), 1);
  const Layer list = layer("list", {}, [](const Tensors& x) -> Tensors { return {x[1], x[0]}; });
  EXPECT_EQ(list.forward({torch::zeros({}), torch::ones({})})[0].item<float>(), 1);
}

}  // namespace layer_test
}  // namespace pagoda
