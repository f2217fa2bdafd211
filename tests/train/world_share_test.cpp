#include "train/world_share.h"

#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "world/ranks.h"

namespace pagoda {
namespace world_share_test {

std::vector<NamedTensor> parameters() {
  return {{"large", torch::zeros({700, 101})},
          {"scalar", torch::zeros({})},
          {"none", torch::zeros({0})},
          {"doubles", torch::zeros({300, 90}, at::kDouble)}};
}

/// Parameters: ranks; rank r has r + 1 towers.
class WorldShareTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, WorldShareTest, ::testing::Values(1, 2, 4));

TEST_P(WorldShareTest, EveryElementIsOneRanksAndReachesAll) {
  on_ranks(GetParam(), [](World& world) {
    const auto all = parameters();
    const WorldShare share({&world, [](World*) {}}, all, world.rank() + 1);
    EXPECT_EQ(share.first_tower(), world.rank() * (world.rank() + 1) / 2);
    EXPECT_EQ(share.all_towers(), world.size() * (world.size() + 1) / 2);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const ElementRange& own = share.of(world.rank())[i];
      elements_of(all[i].tensor, own).fill_(world.rank() + 1);
    }
    share.exchange();
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::int64_t covered = 0;
      for (int rank = 0; rank < world.size(); ++rank) {
        const ElementRange& range = share.of(rank)[i];
        covered += range.size();
        EXPECT_TRUE((elements_of(all[i].tensor, range) == rank + 1).all().item<bool>());
      }
      EXPECT_EQ(covered, all[i].tensor.numel());
    }
  });
}

}  // namespace world_share_test
}  // namespace pagoda
