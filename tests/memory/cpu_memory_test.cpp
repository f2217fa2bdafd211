#include <pagoda/memory/cpu_memory.h>

#include <cstdint>
#include <thread>

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

namespace pagoda {
namespace cpu_memory_test {

std::shared_ptr<MemoryAccount> account(std::optional<std::int64_t> limit = std::nullopt) {
  return std::make_shared<MemoryAccount>("cpu:0", limit);
}

TEST(CpuMemoryTest, ChargesThisThreadsTensorsUntilTheyAreFreed) {
  const auto own = account();
  at::Tensor kept;
  {
    const ChargeCpuMemory charge(own);
    const at::Tensor a = at::zeros({1000});
    EXPECT_EQ(own->in_use(), 4000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.const_data_ptr()) % 64, 0);
    kept = a + 1;
    kept.resize_({2000});
    EXPECT_EQ(own->in_use(), 4000 + 8000);
    EXPECT_EQ(kept[999].item<float>(), 1);
  }
  EXPECT_EQ(own->in_use(), 8000);
  const at::Tensor not_charged = at::zeros({100});
  EXPECT_EQ(own->in_use(), 8000);
  std::thread([&] { kept.reset(); }).join();
  EXPECT_EQ(own->in_use(), 0);
  EXPECT_GE(own->peak(), 12000);
}

TEST(CpuMemoryTest, PastTheLimitAnOperationThrowsAndTheNextWorks) {
  const auto own = account(1 << 20);
  const ChargeCpuMemory charge(own);
  EXPECT_THROW(at::zeros({1 << 20}), MemoryLimitError);
  EXPECT_EQ(own->in_use(), 0);
  const at::Tensor fits = at::ones({1000});
  EXPECT_EQ(fits.sum().item<float>(), 1000);
}

TEST(CpuMemoryTest, AnInnerAccountHidesTheOuterOne) {
  const auto outer = account();
  const auto inner = account();
  const ChargeCpuMemory charge_outer(outer);
  at::Tensor tensor;
  {
    const ChargeCpuMemory charge_inner(inner);
    tensor = at::empty({10});
  }
  EXPECT_EQ(inner->in_use(), 40);
  EXPECT_EQ(outer->in_use(), 0);
  const at::Tensor second = at::empty({5});
  EXPECT_EQ(outer->in_use(), 20);
}

TEST(CpuMemoryTest, MemoryOutlivesItsAccountsOwner) {
  at::Tensor tensor;
  {
    const ChargeCpuMemory charge(account());
    tensor = at::full({8}, 2.0);
  }
  EXPECT_EQ(tensor.sum().item<float>(), 16);
}

TEST(CpuMemoryTest, RawBlocksAndEmptyTensorsWork) {
  const auto own = account();
  const ChargeCpuMemory charge(own);
  void* raw = c10::GetCPUAllocator()->raw_allocate(100);
  EXPECT_EQ(own->in_use(), 100);
  c10::GetCPUAllocator()->raw_deallocate(raw);
  EXPECT_EQ(at::empty({0}).numel(), 0);
  EXPECT_EQ(own->in_use(), 0);
}

}  // namespace cpu_memory_test
}  // namespace pagoda
