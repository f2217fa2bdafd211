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
  EXPECT_EQ(cards[0].uuid, "28292a2b-2c2d-2e2f-3031-323334353637") << "40, 41, … in hexadecimal";
}

TEST(CudaDriverTest, SaysWhetherTheDriverWorksAndWhatItRuns) {
  const CudaDriver driver = read_cuda_driver(PAGODA_FAKE_CUDA_DRIVER);
  EXPECT_TRUE(driver.is_installed);
  EXPECT_EQ(driver.error, 0);
  EXPECT_EQ(driver.version, 12040);
  EXPECT_FALSE(read_cuda_driver("libno_such_driver.so.1").is_installed);
}

TEST(CudaDriverTest, NoLibraryOrAnotherOneGivesNoCards) {
  EXPECT_TRUE(cuda_driver_cards("libno_such_driver.so.1").empty());
  EXPECT_TRUE(cuda_driver_cards("libz.so.1").empty());
}

}  // namespace cuda_driver_test
}  // namespace pagoda
