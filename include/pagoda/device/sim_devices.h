#pragma once

#include <pagoda/device/device.h>
#include <pagoda/sim/sim_cards.h>

#include <map>
#include <string>
#include <vector>

namespace pagoda {

/// How simulated cards behave.
struct SimOptions {
  SimCardOptions card = {};  ///< options of every card
  /// Options of cards that differ, by their number before masking.
  std::map<int, SimCardOptions> single_cards = {};
  /// Operators that have no kernel on the cards, such as "aten::cumsum.out", to try soft placement.
  std::vector<std::string> missing_kernels = {};
  /// Whether the cards forgive nothing that CUDA does not forgive: see docs/devices.md. Off saves a
  /// few microseconds per operation.
  bool strict = true;
};

/// Simulates `count` cards, on any machine: everything that moves data between devices can be tried
/// without a GPU. A card has its own memory, limit and random generator; its operations run on one
/// core of the host and give the numbers of a CPU tower; using another card's tensor is an error.
/// PAGODA_VISIBLE_DEVICES masks and renumbers the cards. A later call changes their number and
/// behaviour.
///
/// Threads: call it while no operation runs on a card, and for the first time before the process's
/// first backward, when LibTorch fixes its devices.
/// Fails: UsageError for a number or option out of range, or if no card is visible; DeviceError if
/// it is too late, or if the process has another PrivateUse1 backend.
///
/// Example:
///     auto towers = make_towers(simulate_devices(4), [] { return LeNet5(); });
///     auto slow_one = simulate_devices(2, {.single_cards = {{1, {.slow_down = 3}}}});
std::vector<Device> simulate_devices(int count, const SimOptions& options = {});

/// The visible ones among the cards that `simulate_devices` set up last; none before its first
/// call.
std::vector<Device> sim_devices();

}  // namespace pagoda
