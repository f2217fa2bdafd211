#include "train/world_sum.h"

#include <pagoda/train/wire_type.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "world/ranks.h"

namespace pagoda {
namespace world_sum_test {

std::shared_ptr<World> borrowed(World& world) {
  return {&world, [](World*) {}};
}

/// Awkward sizes: none, one, a scalar, prime, more than a bucket, and two types.
std::vector<NamedTensor> parameters() {
  std::vector<NamedTensor> all;
  const auto add = [&](std::vector<std::int64_t> shape, at::ScalarType type = at::kFloat) {
    all.push_back({"p" + std::to_string(all.size()), torch::zeros(shape, type)});
  };
  add({3, 5});
  add({0});
  add({});
  add({1});
  add({7}, at::kDouble);
  add({31, 13});
  add({2, 3, 2, 2});
  all.back().tensor = all.back().tensor.contiguous(at::MemoryFormat::ChannelsLast);
  return all;
}

/// What a rank has of a parameter; sums over ranks depend on their order in the last bits.
at::Tensor gradient(const NamedTensor& parameter, int rank, int step) {
  const auto count = parameter.tensor.numel();
  return (torch::arange(count, at::kDouble) * 0.37 + rank * 1.1 + step)
      .sin()
      .mul(std::pow(10.0, rank))
      .to(parameter.tensor.scalar_type())
      .view(parameter.tensor.sizes());
}

at::Tensor sum_in_rank_order(const NamedTensor& parameter, int ranks, int step) {
  at::Tensor sum = gradient(parameter, 0, step);
  for (int rank = 1; rank < ranks; ++rank) sum = sum + gradient(parameter, rank, step);
  return sum;
}

void send_all(WorldSum& sum, const std::vector<NamedTensor>& all, int rank, int step) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].tensor.numel() > 0) sum.place(i).copy_(gradient(all[i], rank, step));
  }
  std::vector<std::size_t> order;
  for (std::size_t b = 0; b < sum.buckets().size(); ++b) order.push_back(b);
  if (rank % 2 == 1) std::reverse(order.begin(), order.end());  // each rank in an order of its own
  for (const std::size_t bucket : order) sum.send(bucket);
  sum.finish();
}

/// Parameters: ranks, bytes of a bucket.
class WorldSumTest : public ::testing::TestWithParam<std::tuple<int, std::int64_t>> {};
INSTANTIATE_TEST_SUITE_P(Worlds, WorldSumTest,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::Values(1, 100, WorldSum::kBucketBytes)));

TEST_P(WorldSumTest, EveryRankGetsTheSumInRankOrderWhateverTravelsTogether) {
  const auto& [ranks, bytes] = GetParam();
  on_ranks(ranks, [&, ranks = ranks, bytes = bytes](World& world) {
    const auto all = parameters();
    WorldSum sum(borrowed(world), all, WireType::fp32, nullptr, bytes);
    for (int step = 0; step < 3; ++step) {
      send_all(sum, all, world.rank(), step);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].tensor.numel() == 0) continue;
        EXPECT_TRUE(sum.place(i).equal(sum_in_rank_order(all[i], ranks, step))) << all[i].name;
        EXPECT_EQ(sum.place(i).strides(), all[i].tensor.strides());
      }
    }
  });
}

TEST_P(WorldSumTest, BucketsHoldEveryElementOnceAndCutRowsNowhere) {
  on_ranks(1, [&](World& world) {
    const auto all = parameters();
    const WorldSum sum(borrowed(world), all, WireType::fp32, nullptr, std::get<1>(GetParam()));
    std::vector<std::int64_t> covered(all.size());
    for (const auto& bucket : sum.buckets()) {
      std::int64_t elements = 0;
      for (const Block& block : bucket.blocks) {
        covered[block.parameter] += block.end - block.begin;
        elements += block.end - block.begin;
        EXPECT_EQ(block.begin % row_elements(all[block.parameter].tensor), 0);
      }
      EXPECT_EQ(bucket.values.numel(), elements);
    }
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(covered[i], all[i].tensor.numel());
  });
}

TEST(WorldSumWireTest, SixteenBitsAreTheSameOnEveryRankAndLoseNothingForGood) {
  constexpr int kRanks = 3;
  constexpr int kSteps = 16;
  for (const WireType type : {WireType::bf16, WireType::fp16}) {
    on_ranks(kRanks, [&](World& world) {
      const auto all = parameters();
      WorldSum sum(borrowed(world), all, type, nullptr, 300);
      std::vector<at::Tensor> totals(all.size());
      for (int step = 0; step < kSteps; ++step) {
        send_all(sum, all, world.rank(), 0);
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (all[i].tensor.numel() == 0) continue;
          const at::Tensor found = sum.place(i).to(at::kDouble).contiguous();
          totals[i] = totals[i].defined() ? totals[i] + found : found;
        }
      }
      const double largest = kRanks * std::pow(10.0, kRanks - 1);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!totals[i].defined()) continue;
        const at::Tensor exact = sum_in_rank_order(all[i], kRanks, 0).to(at::kDouble) * kSteps;
        EXPECT_LT((totals[i] - exact).abs().max().item<double>(), largest * 0.02) << all[i].name;
        for (const at::Tensor& other : world.gather_equal(totals[i]))
          EXPECT_TRUE(other.equal(totals[i]));
      }
    });
  }
}

TEST(WorldSumFaultTest, ARankThatFailsEndsTheOthersSums) {
  on_ranks(3, [](World& world) {
    const auto all = parameters();
    WorldSum sum(borrowed(world), all, WireType::fp32, nullptr, 100);
    if (world.rank() == 2) return world.fail("out of luck");
    const std::string text = failure_of([&] { send_all(sum, all, world.rank(), 0); });
    EXPECT_NE(text.find("rank 2 ("), std::string::npos) << text;
    EXPECT_NE(text.find("out of luck"), std::string::npos) << text;
  });
}

}  // namespace world_sum_test
}  // namespace pagoda
