#pragma once

// Simulated cards for the tests of a program: set up before any of its tests runs, because LibTorch
// fixes its devices at the first backward of the process.

#include <pagoda/device/sim_devices.h>

#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace pagoda::testing {

/// Cards that the tests have while none asks for others.
inline constexpr int kSimCards = 4;

class SimMachine : public ::testing::Environment {
 public:
  void SetUp() override { simulate_devices(kSimCards); }
};

inline const auto* const kSimMachine = ::testing::AddGlobalTestEnvironment(new SimMachine);

/// The first `count` cards of the usual machine.
inline std::vector<Device> sim_cards(int count) {
  auto cards = sim_devices();
  cards.resize(static_cast<std::size_t>(count));
  return cards;
}

/// A machine with other options, for as long as this lives.
class OtherSimMachine {
 public:
  OtherSimMachine(int count, const SimOptions& options)
      : devices_(simulate_devices(count, options)) {}
  ~OtherSimMachine() { simulate_devices(kSimCards); }
  OtherSimMachine(const OtherSimMachine&) = delete;
  OtherSimMachine& operator=(const OtherSimMachine&) = delete;

  const std::vector<Device>& devices() const { return devices_; }

 private:
  std::vector<Device> devices_;
};

inline at::TensorOptions on_sim(int card) {
  return at::device(at::Device(at::kPrivateUse1, static_cast<at::DeviceIndex>(card)));
}

}  // namespace pagoda::testing
