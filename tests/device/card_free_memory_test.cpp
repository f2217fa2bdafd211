#include "device/card_free_memory.h"

#include <gtest/gtest.h>

namespace pagoda {
namespace card_free_memory_test {

TEST(CardFreeMemoryTest, IsWhatTheManagementLibrarySaysOfTheCardWithThatUuid) {
  EXPECT_EQ(card_free_memory("28292a2b-2c2d-2e2f-3031-323334353637", PAGODA_FAKE_CUDA_DRIVER),
            700 * 40);
  EXPECT_EQ(card_free_memory("00000000-0000-0000-0000-000000000000", PAGODA_FAKE_CUDA_DRIVER),
            std::nullopt);
}

TEST(CardFreeMemoryTest, IsUnknownWithoutTheLibrary) {
  EXPECT_EQ(card_free_memory("28292a2b", "libno_such_library.so.1"), std::nullopt);
  EXPECT_EQ(card_free_memory("28292a2b", "libz.so.1"), std::nullopt);
}

}  // namespace card_free_memory_test
}  // namespace pagoda
