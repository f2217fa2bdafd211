#include "sim/sim_backend.h"

#include <pagoda/base/error.h>

#include <thread>

#include <ATen/Context.h>
#include <c10/core/DeviceGuard.h>
#include <gtest/gtest.h>

#include "support/sim_machine.h"

namespace pagoda {
namespace sim_backend_test {

using testing::on_sim;

TEST(SimBackendTest, TheDeviceHasAName) {
  EXPECT_EQ(at::zeros({1}, on_sim(2)).device().str(), "sim:2");
  EXPECT_EQ(at::Device("sim:1"), on_sim(1).device());
}

TEST(SimBackendTest, ABareNameIsTheCurrentCardOfTheThread) {
  const c10::DeviceGuard guard(at::Device("sim:3"));
  EXPECT_EQ(at::zeros({1}, at::Device("sim")).get_device(), 3);
  int elsewhere = -1;
  std::thread([&] { elsewhere = at::zeros({1}, at::Device("sim")).get_device(); }).join();
  EXPECT_EQ(elsewhere, 0);
}

TEST(SimBackendTest, ACardThatIsNotThereIsAnError) {
  EXPECT_THROW(at::zeros({1}, on_sim(testing::kSimCards)), DeviceError);
}

TEST(SimBackendTest, ItIsRegisteredOnce) {
  EXPECT_THROW(register_sim_backend(), DeviceError);
  EXPECT_EQ(at::globalContext().getAcceleratorHooksInterface(at::kPrivateUse1).deviceCount(),
            testing::kSimCards);
}

}  // namespace sim_backend_test
}  // namespace pagoda
