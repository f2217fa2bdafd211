#include "sim/pinned_memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace pinned_memory_test {

TEST(PinnedMemoryTest, IsKnownByEveryAddressInIt) {
  const char* begin = nullptr;
  {
    const c10::DataPtr memory = pinned_allocator()->allocate(100);
    begin = static_cast<const char*>(memory.get());
    EXPECT_TRUE(is_pinned(begin));
    EXPECT_TRUE(is_pinned(begin + 99));
    EXPECT_FALSE(is_pinned(begin + 100));
    EXPECT_FALSE(is_pinned(begin - 1));
  }
  EXPECT_FALSE(is_pinned(begin));
  EXPECT_FALSE(is_pinned(nullptr));
}

TEST(PinnedMemoryTest, LibTorchFindsIt) {
  const at::Tensor used = at::zeros({1}, testing::on_sim(0));
  const at::Tensor tensor = at::arange(12).reshape({3, 4});
  const at::Tensor pinned = tensor.pin_memory();
  EXPECT_TRUE(pinned.is_pinned());
  EXPECT_TRUE(pinned.slice(0, 1).is_pinned());
  EXPECT_FALSE(tensor.is_pinned());
  EXPECT_TRUE(pinned.equal(tensor));
}

}  // namespace pinned_memory_test
}  // namespace pagoda
