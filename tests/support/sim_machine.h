#pragma once

// Cards for the tests of a program: simulated ones, or CUDA's with PAGODA_TEST_CARDS=cuda. Simulated
// ones are set up before any of its tests runs, because LibTorch fixes its devices at the first
// backward of the process.

#include <pagoda/device/device_list.h>
#include <pagoda/device/sim_devices.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

namespace pagoda::testing {

/// Simulated cards that the tests have while none asks for others.
inline constexpr int kSimCards = 4;

/// The kind of cards that the tests run on.
inline const DeviceKind kCardKind = [] {
  const char* wanted = std::getenv("PAGODA_TEST_CARDS");
  return wanted != nullptr && std::string_view(wanted) == "cuda" ? DeviceKind::cuda
                                                                 : DeviceKind::sim;
}();

/// For tests of what only simulated cards can do: first in the test's body.
#define PAGODA_NEEDS_SIMULATED_CARDS()                             \
  if (::pagoda::testing::kCardKind != ::pagoda::DeviceKind::sim) { \
    GTEST_SKIP() << "needs simulated cards";                       \
  }                                                                \
  static_assert(true)

/// All cards of the kind.
inline std::vector<Device> all_cards() {
  return kCardKind == DeviceKind::sim ? sim_devices() : select_devices("cuda");
}

class SimMachine : public ::testing::Environment {
 public:
  void SetUp() override {
    if (kCardKind == DeviceKind::sim) {
      simulate_devices(kSimCards);
    } else if (torch::cuda::device_count() == 0) {
      std::puts("no CUDA card");
      std::_Exit(77);  // CTest counts it as skipped
    }
  }
};

inline const auto* const kSimMachine = ::testing::AddGlobalTestEnvironment(new SimMachine);

/// The first `count` cards of the usual machine. Fails where a machine with CUDA cards has fewer.
inline std::vector<Device> first_cards(int count) {
  auto cards = all_cards();
  if (count > static_cast<int>(cards.size()))
    throw std::runtime_error("the test needs " + std::to_string(count) + " cards");
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

inline at::TensorOptions on_card(int card) {
  return at::device(first_cards(card + 1).back().torch_device());
}

}  // namespace pagoda::testing
