#include "sim/sim_memory.h"

#include <pagoda/memory/memory_account.h>

#include <ATen/DeviceAccelerator.h>
#include <gtest/gtest.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace sim_memory_test {

using testing::on_sim;
using testing::OtherSimMachine;

std::int64_t in_use(int card) { return sim_card_memory(card).in_use(); }

TEST(SimMemoryTest, TensorsAreChargedToTheirCard) {
  const std::int64_t before = in_use(2);
  const std::int64_t other = in_use(1);
  {
    const at::Tensor tensor = at::zeros({1000}, on_sim(2));
    EXPECT_EQ(in_use(2), before + 4000);
    const at::Tensor view = tensor.slice(0, 10);
    EXPECT_EQ(in_use(2), before + 4000);
    const at::Tensor made_by_the_host =
        tensor.nonzero();  // an operator without an `out` form inside
    const at::Tensor unique =
        std::get<0>(at::_unique2(at::arange(100, on_sim(2).dtype(at::kLong))));
    EXPECT_EQ(in_use(2), before + 4000 + 800);
  }
  EXPECT_EQ(in_use(2), before);
  EXPECT_EQ(in_use(1), other);
}

TEST(SimMemoryTest, ResizingIsChargedToo) {
  const std::int64_t before = in_use(0);
  at::Tensor tensor = at::zeros({10}, on_sim(0));
  tensor.resize_({100});
  EXPECT_EQ(in_use(0), before + 400);
  at::Tensor out = at::empty({0}, on_sim(0));
  at::add_out(out, tensor, tensor);
  EXPECT_EQ(out.numel(), 100);
  EXPECT_EQ(in_use(0), before + 800);
}

TEST(SimMemoryTest, PastTheLimitNothingIsAllocatedAndTheRestGoesOn) {
  const OtherSimMachine machine(2, {.card = {.memory_bytes = 1 << 20}});
  const std::int64_t before = in_use(0);
  const at::Tensor fits = at::zeros({1000}, on_sim(0));
  try {
    at::zeros({1 << 20}, on_sim(0));
    FAIL();
  } catch (const MemoryLimitError& error) {
    EXPECT_EQ(error.device(), "sim:0");
    EXPECT_EQ(error.limit(), 1 << 20);
    EXPECT_EQ(error.asked_for(), 4 << 20);
    EXPECT_EQ(error.in_use(), before + 4000);
  }
  EXPECT_EQ(in_use(0), before + 4000);
  EXPECT_EQ((fits + 1).sum().item<float>(), 1000);
}

TEST(SimMemoryTest, LibTorchsOwnCallsTellTheSame) {
  const OtherSimMachine machine(1, {.card = {.memory_bytes = 1 << 24}});
  const at::Tensor tensor = at::zeros({1000}, on_sim(0));
  auto* allocator = at::getDeviceAllocator(at::kPrivateUse1);
  const auto [free_bytes, total_bytes] = allocator->getMemoryInfo(0);
  EXPECT_EQ(total_bytes, 1 << 24);
  EXPECT_EQ(free_bytes, static_cast<std::size_t>((1 << 24) - in_use(0)));
  EXPECT_EQ(allocator->getDeviceStats(0).allocated_bytes[0].current, in_use(0));
}

TEST(SimMemoryTest, AdoptedMemoryLivesAsLongAsTheCardsStorage) {
  const std::int64_t before = in_use(3);
  at::Tensor host = at::full({8}, 5.0);
  c10::Storage storage = adopt_storage(host.storage(), 3);
  host.reset();
  EXPECT_EQ(in_use(3), before + 32);
  EXPECT_EQ(static_cast<const float*>(storage.data())[7], 5);
  storage = {};
  EXPECT_EQ(in_use(3), before);
}

}  // namespace sim_memory_test
}  // namespace pagoda
