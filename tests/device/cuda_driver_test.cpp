#include "device/cuda_driver.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace pagoda {
namespace cuda_driver_test {

TEST(CudaDriverTest, GivesNameCapabilityAndMemoryOfEachCard) {
  const auto cards = cuda_driver_cards(PAGODA_FAKE_CUDA_DRIVER);
  ASSERT_EQ(cards.size(), 2);
  EXPECT_EQ(cards[0].name, "Card 40");
  EXPECT_EQ(cards[0].capability, "8.6");
  EXPECT_EQ(cards[0].memory_bytes, 40'000);
  EXPECT_EQ(cards[1].name, "") << "a card that does not answer is still counted";
  EXPECT_EQ(cards[1].capability, "");
}

TEST(CudaDriverTest, NoLibraryOrAnotherOneGivesNoCards) {
  EXPECT_TRUE(cuda_driver_cards("libno_such_driver.so.1").empty());
  EXPECT_TRUE(cuda_driver_cards("libz.so.1").empty());
}

}  // namespace cuda_driver_test
}  // namespace pagoda
