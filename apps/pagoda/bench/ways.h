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
  ParameterPlacement placement = ParameterPlacement::shared;
  bool async = false;
  int stages = 1;  ///< that each tower's model is cut into
  Precision precision = Precision::fp32;

  /// CPU cores that it uses, or cards.
  int size() const;
  /// "2 towers of 1 core, shared", "3 cards, spread, bf16", "1 tower of 2 stages of 1 core".
  std::string name() const;
  /// The options of `pagoda train` for it, as TOML.
  std::string config() const;
};

/// Every way that is worth a try: on cards one to all of them; on the CPU towers and cores of each
/// in powers of two, as many as fit; and for each the placements that these devices can do,
/// asynchronous updates, and stages in powers of two, at most one for each of the model's layers.
/// The first way of each is also tried in the precisions of 16 bits in which the devices are fast.
std::vector<Way> possible_ways(const std::vector<Device>& devices, int layers);

}  // namespace pagoda::app
