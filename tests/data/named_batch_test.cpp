#include <pagoda/base/error.h>
#include <pagoda/data/named_batch.h>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "support/tower_fixtures.h"

namespace pagoda {
namespace named_batch_test {

using testing::message_of;

TEST(NamedBatchTest, CountsByItsRowsAndFindsTensorsByName) {
  const NamedBatch batch{.tensors = {{"x", torch::ones({3, 2})}, {"y", torch::zeros({3})}},
                         .samples = {7, 8, 9}};
  EXPECT_EQ(batch.weight(), 3);
  EXPECT_EQ(batch.sample_numbers().size(), 3u);
  EXPECT_TRUE(batch.get("y").equal(torch::zeros({3})));
  EXPECT_EQ(message_of<UsageError>([&] { (void)batch.get("z"); }),
            "the data has no tensor 'z'; it has 'x', 'y'");
  EXPECT_EQ(NamedBatch{}.weight(), 0);
}

TEST(NamedBatchTest, EveryTensorCanBeReplaced) {
  const NamedBatch batch{.tensors = {{"x", torch::ones({2})}, {"y", torch::ones({2})}},
                         .samples = {1, 2}};
  const NamedBatch doubled =
      batch.with_tensors([](const at::Tensor& tensor) { return tensor.to(torch::kDouble) * 2; });
  for (const char* name : {"x", "y"})
    EXPECT_TRUE(doubled.get(name).equal(torch::full({2}, 2.0, torch::kDouble)));
  EXPECT_EQ(doubled.samples, batch.samples);
}

}  // namespace named_batch_test
}  // namespace pagoda
