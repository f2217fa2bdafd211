#include "sim/sim_init.h"

#include <pagoda/base/error.h>
#include <pagoda/device/device_list.h>

#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <c10/core/DeviceGuard.h>
#include <gtest/gtest.h>

#include "sim/sim_memory.h"
#include "support/fresh_process.h"
#include "support/sim_machine.h"

namespace pagoda {
namespace sim_init_test {

using testing::expect_in_fresh_process;
using testing::on_sim;
using testing::OtherSimMachine;

template <class Call>
bool refused(Call call) {
  try {
    call();
  } catch (const DeviceError&) {
    return true;
  }
  return false;
}

int contexts() {
  int count = 0;
  for (int card = 0; card < testing::kSimCards; ++card)
    count += at::globalContext().getAcceleratorHooksInterface(at::kPrivateUse1).hasPrimaryContext(
        static_cast<at::DeviceIndex>(card));
  return count;
}

TEST(SimInitTest, BeforeTheFirstTensorThereAreNoStatisticsAndNoMemory) {
  expect_in_fresh_process([] {
    auto* allocator = at::getDeviceAllocator(at::kPrivateUse1);
    const auto& hooks = at::globalContext().getAcceleratorHooksInterface(at::kPrivateUse1);
    const auto generator = hooks.getNewGenerator(1);  // these do not initialise, nor do guards
    { const c10::DeviceGuard guard(on_sim(1).device()); }
    const bool before = refused([&] { allocator->getDeviceStats(0); }) &&
                        refused([&] { allocator->resetPeakStats(0); }) &&
                        refused([&] { allocator->allocate(16); }) && !allocator->initialized();
    const at::Tensor first = at::zeros({3}, on_sim(1));
    return before && allocator->initialized() &&
           allocator->getDeviceStats(1).allocated_bytes[0].current >= 12;
  });
}

TEST(SimInitTest, LibTorchsOwnCallInitialises) {
  expect_in_fresh_process([] {
    at::globalContext().lazyInitDevice(at::kPrivateUse1);
    at::getDeviceAllocator(at::kPrivateUse1)->resetPeakStats(3);
    return contexts() == 0;
  });
}

TEST(SimInitTest, CardsThatAreNotStrictAreReady) {
  expect_in_fresh_process([] {
    const OtherSimMachine machine(1, {.strict = false});
    return at::getDeviceAllocator(at::kPrivateUse1)->getDeviceStats(0).allocated_bytes[0].current ==
           0;
  });
}

TEST(SimInitTest, AContextIsOpenedAtTheFirstUseOfACardAndListingOpensNone) {
  const OtherSimMachine machine(testing::kSimCards, {});
  EXPECT_EQ(visible_devices().size(), testing::kSimCards);
  EXPECT_EQ(select_devices("sim:0-2").size(), 3);
  EXPECT_EQ(contexts(), 0);
  const at::Tensor tensor = at::zeros({3}, on_sim(2));
  EXPECT_EQ(contexts(), 1);
  { const c10::DeviceGuard guard(on_sim(0).device()); }  // the current one already
  EXPECT_EQ(contexts(), 1);
  { const c10::DeviceGuard guard(on_sim(3).device()); }
  at::getDeviceAllocator(at::kPrivateUse1)->getMemoryInfo(0);
  EXPECT_EQ(contexts(), 3);
}

}  // namespace sim_init_test
}  // namespace pagoda
