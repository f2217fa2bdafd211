#include "model/made_up_task.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

namespace pagoda::app {
namespace made_up_task_test {

TEST(MadeUpTaskTest, BatchesAreJoinedInTheirOrder) {
  const at::Tensor input = at::arange(12).view({6, 2});
  const at::Tensor target = at::arange(6);
  std::vector<Batch> parts;
  std::int64_t begin = 0;
  for (const std::int64_t count : {1, 3, 2}) {
    parts.push_back({input.narrow(0, begin, count), target.narrow(0, begin, count)});
    begin += count;
  }
  const Batch joined = join_batches(parts);
  EXPECT_TRUE(joined.input.equal(input));
  EXPECT_TRUE(joined.target.equal(target));
}

TEST(MadeUpTaskTest, AStreamIsAFunctionOfItsSeed) {
  const auto drawn = [](std::uint64_t seed) {
    at::Generator random = sample_stream(seed);
    return at::randn({7}, random);
  };
  EXPECT_TRUE(drawn(3).equal(drawn(3)));
  EXPECT_FALSE(drawn(3).equal(drawn(4)));
}

}  // namespace made_up_task_test
}  // namespace pagoda::app
