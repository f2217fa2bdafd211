#include "bench/equal_layers.h"

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

TEST(EqualLayersTest, TheErrorOfTheTargetIsZero) {
  const Batch batch = random_vectors(2, 3);
  EXPECT_EQ(squared_error(batch.target, batch).item<float>(), 0);
  EXPECT_FLOAT_EQ(squared_error(batch.target + 2, batch).item<float>(), 4);
}

}  // namespace equal_layers_test
}  // namespace pagoda::app
