#include "train/pack_block.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "reduce/combine.h"

namespace pagoda {
namespace pack_block_test {

TEST(PackBlockTest, WritesTheWeightedSumIntoTheBlockAndNothingElse) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const at::Tensor parameter = torch::zeros({5, 3}, type);
    const at::Tensor first = torch::arange(15, type).view({5, 3});
    const at::Tensor rows =
        torch::sparse_coo_tensor(torch::tensor({{1, 2}}), torch::ones({2, 3}, type), {5, 3})
            ._coalesced_(true);
    const std::vector<std::pair<std::vector<at::Tensor>, at::Tensor>> cases{
        {{first, 2 * first}, 2 * first + 3 * 2 * first},
        {{first, at::Tensor()}, 2 * first},
        {{rows, rows}, 5 * rows.to_dense()},
        {{rows, first}, 2 * rows.to_dense() + 3 * first},
        {{at::Tensor(), at::Tensor()}, torch::zeros({5, 3}, type)}};
    for (const auto& [towers, expected] : cases) {
      const at::Tensor to = torch::full({5, 3}, -1, type);
      pack_block(combine(parameter, towers), {2, 3}, {0, 3, 12}, to);
      EXPECT_TRUE(to.narrow(0, 1, 3).equal(expected.narrow(0, 1, 3)));
      EXPECT_TRUE(to[0].equal(torch::full({3}, -1, type)));
      EXPECT_TRUE(to[4].equal(torch::full({3}, -1, type)));
    }
  }
}

}  // namespace pack_block_test
}  // namespace pagoda
