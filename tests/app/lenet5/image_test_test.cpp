#include "lenet5/image_test.h"

#include <pagoda/data/dataset.h>
#include <pagoda/device/device_list.h>

#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include "world/ranks.h"

namespace pagoda::app {
namespace image_test_test {

/// So many images, as formulas.
TensorDataset images(std::int64_t count) {
  const at::Tensor numbers = at::arange(count * 3 * 28 * 28, at::kDouble);
  return TensorDataset((numbers * 0.37).sin().view({count, 3, 28, 28}),
                       at::arange(count).remainder(kImageClasses));
}

ImageTest tested(const LeNet5& model, const Dataset& data, int towers, World* world) {
  auto group = make_towers(select_devices(std::to_string(towers)), [model] {
    LeNet5 own;
    own->to(torch::kDouble);
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < own->parameters().size(); ++i)
      own->parameters()[i].copy_(model->parameters()[i]);
    return own;
  });
  return test_images(group, data, world);
}

TEST(ImageTestTest, ProcessesDivideTheImagesAndEachGetsTheResultOfAll) {
  LeNet5 model;
  model->to(torch::kDouble);
  for (const std::int64_t count : {3, 403}) {  // fewer batches than towers, and an uneven end
    const TensorDataset data = images(count);
    const ImageTest expected = tested(model, data, 1, nullptr);
    for (const int size : {2, 3}) {
      std::vector<ImageTest> found(static_cast<std::size_t>(size));
      on_ranks(size, [&](World& world) {
        found[static_cast<std::size_t>(world.rank())] =
            tested(model, data, 1 + world.rank() % 2, &world);
      });
      for (const ImageTest& one : found) {
        EXPECT_EQ(one.total(), count);
        EXPECT_EQ(one.confusion, expected.confusion);
        EXPECT_NEAR(one.loss, expected.loss, 1e-12);
        EXPECT_EQ(one.loss, found[0].loss) << "the same bits everywhere";
      }
    }
  }
}

}  // namespace image_test_test
}  // namespace pagoda::app
