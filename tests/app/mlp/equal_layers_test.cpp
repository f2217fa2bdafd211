#include "mlp/equal_layers.h"

#include <gtest/gtest.h>

namespace pagoda::app {
namespace equal_layers_test {

TEST(EqualLayersTest, TheLayersOneAfterAnotherAreTheModel) {
  for (const int count : {1, 2, 5}) {
    EqualLayers model(count, 7);
    const Batch batch = random_vectors(3, 7);
    const auto layers = model->layers();
    ASSERT_EQ(layers.size(), static_cast<std::size_t>(count));
    Tensors passed{batch.input};
    for (const Layer& layer : layers) passed = layer.forward(passed);
    EXPECT_TRUE(passed[0].equal(model(batch.input)));
  }
}

TEST(EqualLayersTest, DropoutIsForTrainingOnly) {
  EqualLayers model(2, 50, 0.5);
  const at::Tensor input = random_vectors(3, 50).input;
  const auto zeros = [&] { return model->layers()[0].forward({input})[0].eq(0).sum().item<int>(); };
  model->eval();
  const int of_relu = zeros();
  model->train();
  EXPECT_GT(zeros(), of_relu);
}

TEST(EqualLayersTest, TheErrorOfTheTargetIsZero) {
  const Batch batch = random_vectors(2, 3);
  EXPECT_EQ(squared_error(batch.target, batch).item<float>(), 0);
  EXPECT_FLOAT_EQ(squared_error(batch.target + 2, batch).item<float>(), 4);
}

}  // namespace equal_layers_test
}  // namespace pagoda::app
