#pragma once

// The machines that tests of towers run on: CPU towers and cards.

#include <pagoda/device/device.h>
#include <pagoda/tower/tower_group.h>

#include <ostream>
#include <string>
#include <vector>

#include "support/sim_machine.h"
#include "support/tower_fixtures.h"

namespace pagoda::testing {

/// So many towers of a kind; converts from and to their number, CPU towers by default.
struct Machine {
  Machine(int towers, DeviceKind kind = DeviceKind::cpu) : towers(towers), kind(kind) {}
  operator int() const { return towers; }

  std::vector<Device> devices() const {
    return kind == DeviceKind::cpu ? cpu_devices(towers) : first_cards(towers);
  }
  std::string label(int tower) const {
    return std::string(kind_name(kind)) + ":" + std::to_string(tower);
  }
  std::string name() const { return std::to_string(towers) + "_" + kind_name(kind) + "_towers"; }

  int towers;
  DeviceKind kind;
};

inline void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.name(); }

/// Every number of CPU towers that tests try, and cards up to all that there are, or four.
inline std::vector<Machine> machines() {
  std::vector<Machine> all(kTowerCounts.begin(), kTowerCounts.end());
  // Asked before simulated ones are set up.
  const int most = kCardKind == DeviceKind::sim
                       ? kSimCards
                       : std::min(kSimCards, static_cast<int>(torch::cuda::device_count()));
  for (int count = 1; count <= most; ++count) all.emplace_back(count, kCardKind);
  return all;
}

/// A machine and where its parameters live.
struct PlacedMachine {
  Machine machine;
  ParameterPlacement placement;
};

inline void PrintTo(const PlacedMachine& placed, std::ostream* out) {
  *out << placed.machine.name() << "_" << placement_name(placed.placement);
}

/// Every machine in every placement that it can do.
inline std::vector<PlacedMachine> placed_machines() {
  std::vector<PlacedMachine> all;
  for (const Machine& machine : machines()) {
    for (const ParameterPlacement placement : kEveryPlacement) {
      if (placement == ParameterPlacement::shared && machine.kind != DeviceKind::cpu) continue;
      all.push_back({machine, placement});
    }
  }
  return all;
}

/// Every placement on CPU towers and on cards, with few towers: for what the number of towers, which
/// others test, could hardly break.
inline std::vector<PlacedMachine> few_placed_machines() {
  std::vector<PlacedMachine> all = placed_machines();
  std::erase_if(all, [](const PlacedMachine& placed) {
    const int towers = placed.machine.towers;
    if (placed.machine.kind != DeviceKind::cpu) return towers != 2;
    return towers != 3 && !(towers == 1 && placed.placement == ParameterPlacement::shared);
  });
  return all;
}

/// Those where one copy of the parameters is updated.
inline std::vector<PlacedMachine> single_copy_machines() {
  std::vector<PlacedMachine> all = placed_machines();
  std::erase_if(all, [](const PlacedMachine& placed) {
    return placed.placement == ParameterPlacement::mirrored ||
           placed.placement == ParameterPlacement::spread;
  });
  return all;
}

}  // namespace pagoda::testing
