#include "device/cuda_cards.h"

#include <gtest/gtest.h>
#include <torch/cuda.h>

namespace pagoda {
namespace cuda_cards_test {

TEST(CudaCardsTest, AreThoseThatLibTorchSees) {
  const auto cards = cuda_cards();
  ASSERT_EQ(cards.size(), torch::cuda::device_count());
  for (std::size_t i = 0; i < cards.size(); ++i) {
    EXPECT_EQ(cards[i].label(), "cuda:" + std::to_string(i));
    EXPECT_TRUE(cards[i].cores.empty());
    EXPECT_GT(cards[i].memory_bytes, 0);
    EXPECT_FALSE(cards[i].name.empty());
  }
}

TEST(CudaCardsTest, OriginalNumbersAreThoseOfTheMask) {
  EXPECT_EQ(original_numbers(std::nullopt, 2), (std::vector<int>{0, 1}));
  EXPECT_EQ(original_numbers("4,5,6,7", 4), (std::vector<int>{4, 5, 6, 7}));
  EXPECT_EQ(original_numbers("GPU-8932f937,GPU-55f4", 2), (std::vector<int>{-1, -1}));
  EXPECT_EQ(original_numbers("3", 2), (std::vector<int>{3, -1})) << "the driver knows better";
}

}  // namespace cuda_cards_test
}  // namespace pagoda
