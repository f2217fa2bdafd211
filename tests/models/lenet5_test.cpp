#include <pagoda/base/error.h>
#include <pagoda/models/lenet5.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace pagoda {
namespace lenet5_test {

using Shape = std::vector<std::int64_t>;
using torch::max_pool2d;

TEST(LeNet5Test, HasTheParametersOfTheTutorial) {
  const std::map<std::string, Shape> expected{
      {"conv1.weight", {32, 3, 5, 5}},      {"conv1.bias", {32}},
      {"conv2.weight", {64, 32, 5, 5}},     {"conv2.bias", {64}},
      {"hidden.weight", {512, 7 * 7 * 64}}, {"hidden.bias", {512}},
      {"logits.weight", {10, 512}},         {"logits.bias", {10}},
  };
  std::map<std::string, Shape> found;
  for (const auto& item : LeNet5()->named_parameters())
    found[item.key()] = item.value().sizes().vec();
  EXPECT_EQ(found, expected);
}

TEST(LeNet5Test, GivesOneLogitForEachClass) {
  struct {
    LeNet5Options options;
    std::int64_t images;
  } const cases[] = {{{}, 1},
                     {{}, 5},
                     {{.channels = 1}, 3},
                     {{.image_size = 32, .classes = 100}, 2},
                     {{.image_size = 4, .classes = 1}, 2}};
  for (const auto& [options, images] : cases) {
    LeNet5 model(options);
    const at::Tensor logits =
        model(torch::randn({images, options.channels, options.image_size, options.image_size}));
    EXPECT_EQ(logits.sizes(), (Shape{images, options.classes}));
  }
}

TEST(LeNet5Test, ComputesWhatItsLayersSay) {
  LeNet5 model;
  model->to(torch::kDouble);
  const auto p = model->named_parameters();
  const at::Tensor images = torch::randn({3, 3, 28, 28}, torch::kDouble);
  at::Tensor x =
      torch::conv2d(images, p["conv1.weight"], p["conv1.bias"], /*stride=*/1, /*padding=*/2);
  x = max_pool2d(torch::relu(x), 2);
  x = max_pool2d(torch::relu(torch::conv2d(x, p["conv2.weight"], p["conv2.bias"], 1, 2)), 2);
  x = torch::relu(torch::linear(x.reshape({3, -1}), p["hidden.weight"], p["hidden.bias"]));
  x = torch::linear(x, p["logits.weight"], p["logits.bias"]);
  EXPECT_LT((model(images) - x).abs().max().item<double>(), 1e-12);
}

TEST(LeNet5Test, DropsOnlyInTraining) {
  LeNet5 model(LeNet5Options{.dropout = 0.5});
  const at::Tensor images = torch::randn({2, 3, 28, 28});
  EXPECT_FALSE(model(images).equal(model(images)));
  model->eval();
  EXPECT_TRUE(model(images).equal(model(images)));
}

TEST(LeNet5Test, RefusesSizesThatCannotBe) {
  const LeNet5Options bad[] = {{.channels = 0},   {.channels = -3},   {.image_size = 0},
                               {.image_size = 2}, {.image_size = 30}, {.image_size = -4},
                               {.classes = 0},    {.classes = -1},    {.dropout = -0.1},
                               {.dropout = 1},    {.dropout = NAN},   {.dropout = INFINITY}};
  for (const auto& options : bad) EXPECT_THROW(LeNet5{options}, UsageError);
}

TEST(LeNet5Test, LayersOneAfterTheOtherAreTheModel) {
  LeNet5 model(LeNet5Options{.image_size = 8});
  const at::Tensor images = torch::randn({2, 3, 8, 8});
  Tensors x{images};
  std::size_t tensors = 0;
  for (const Layer& layer : model->layers()) {
    x = layer.forward(x);
    tensors += layer.tensors.size();
  }
  EXPECT_TRUE(x[0].equal(model(images)));
  EXPECT_EQ(tensors, model->parameters().size());
}

}  // namespace lenet5_test
}  // namespace pagoda
