#include "models/attention_cache.h"

#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/multi_head_attention.h"
#include "support/machines.h"

namespace pagoda {
namespace attention_cache_test {

constexpr std::int64_t kHidden = 12;
constexpr std::int64_t kHeads = 3;

/// The same decoding on a device: rows grow by a token, are reordered, and grow again.
std::vector<at::Tensor> decoded(c10::Device device) {
  torch::manual_seed(5);
  const auto random = [&](at::IntArrayRef sizes) {
    return torch::randn(sizes, torch::kDouble).to(device);
  };
  DecoderRows rows({4, 2, 3});
  GrownCache grown;
  const SourceCache sources(random({3, 4, 2 * kHidden}));
  std::vector<at::Tensor> found;
  const auto step = [&] {
    rows.add_step();
    found.push_back(grown.add_and_attend(random({rows.count(), 3 * kHidden}), kHeads, rows).cpu());
    at::Tensor weights;
    found.push_back(sources.attend(random({rows.count(), kHidden}), kHeads, rows, &weights).cpu());
    found.push_back(weights.cpu());
  };
  step();
  rows.select({0, 0, 2, 1, 1});
  step();
  rows.select({4, 2, 0});
  step();
  return found;
}

TEST(AttentionCacheTest, TheKernelEqualsLibTorchsOperators) {
  const auto on_cpu = decoded(at::kCPU);
  const auto on_card = decoded(testing::Machine(1, testing::kCardKind).devices()[0].torch_device());
  ASSERT_EQ(on_cpu.size(), on_card.size());
  for (std::size_t i = 0; i < on_cpu.size(); ++i)
    EXPECT_TRUE(at::allclose(on_cpu[i], on_card[i], 1e-12, 1e-12)) << i;
}

TEST(AttentionCacheTest, RowsRememberWhereTheyWereComputed) {
  DecoderRows rows({5, 6});
  rows.add_step();
  rows.select({1, 1, 0});
  rows.add_step();
  EXPECT_EQ(rows.count(), 3);
  EXPECT_EQ(rows.steps(), 2);
  EXPECT_EQ(rows.past(0), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(rows.past(1), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(rows.past(2), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(rows.source_length(1), 6);
  EXPECT_EQ(rows.source(2), 0);
  rows.select({});
  EXPECT_EQ(rows.count(), 0);
}

}  // namespace attention_cache_test
}  // namespace pagoda
