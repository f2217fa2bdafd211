#pragma once

#include <pagoda/device/device_list.h>
#include <pagoda/tower/tower_group.h>

#include <optional>
#include <string>
#include <vector>

namespace pagoda::app {

/// A way to train on this machine.
struct Way {
  std::vector<Device> devices;
  Placement placement = Placement::shared;
  bool async = false;

  /// CPU cores that it uses, or cards.
  int size() const;
  /// "2 towers of 1 core, shared", "3 cards, spread", "2 towers of 1 core, async".
  std::string name() const;
  /// The options of `pagoda train` for it, as TOML.
  std::string config() const;
};

/// Every way that is worth a try: on cards one to all of them; on the CPU towers and cores of each
/// in powers of two, as many as fit; and for each the placements that these devices can do, and
/// asynchronous updates.
std::vector<Way> possible_ways(const std::vector<Device>& devices);

}  // namespace pagoda::app
