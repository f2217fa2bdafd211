#pragma once

#include <pagoda/device/device.h>
#include <pagoda/sim/sim_cards.h>

#include <map>
#include <string>
#include <vector>

namespace pagoda {

/// How simulated cards behave.
struct SimOptions {
  SimCardOptions card = {};                         ///< of every card
  std::map<int, SimCardOptions> single_cards = {};  ///< of those that differ, by number
  /// Operators without a kernel on the cards, such as "aten::cumsum.out", to try soft placement.
  std::vector<std::string> missing_kernels = {};
  /// The cards forgive nothing that CUDA does not forgive: see docs/devices.md. Off spares a few
  /// microseconds an operation.
  bool strict = true;
};

/// A machine with `count` cards, on any machine: everything that moves data between devices can be
/// tried without a GPU. A card has its own memory, limit and random generator; its operations run
/// on one core of the host and give the numbers of a CPU tower; a tensor of another card is an
/// error. PAGODA_VISIBLE_DEVICES masks and renumbers them. A later call changes number and
/// behaviour.
///
/// Threads: call it while no operation runs on a card, and before the first backward of the
/// process: LibTorch fixes its devices then. Fails: UsageError for a number or option out of range;
/// DeviceError when it is too late.
///
/// Example:
///     auto towers = make_towers(simulate_devices(4), [] { return LeNet5(); });
///     auto slow_one = simulate_devices(2, {.single_cards = {{1, {.slow_down = 3}}}});
std::vector<Device> simulate_devices(int count, const SimOptions& options = {});

/// The visible ones of the cards that `simulate_devices` set up last; none before it.
std::vector<Device> sim_devices();

}  // namespace pagoda
