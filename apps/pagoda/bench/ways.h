#pragma once

#include <pagoda/device/device_list.h>
#include <pagoda/tower/tower_group.h>
#include <pagoda/train/wire_type.h>

#include <optional>
#include <string>
#include <vector>

namespace pagoda::app {

/// Several processes that train one model, of which each has the devices of its way.
struct WayTogether {
  int processes = 1;
  int devices = 0;          ///< of all of them
  std::string chosen = {};  ///< what `--devices` says; "all": each takes its part
  std::optional<int> cores_per_tower = std::nullopt;
  WireType wire = WireType::fp32;  ///< what gradients travel in
  int sync_every = 1;              ///< steps between two meetings

  /// Whether each step is that of one process with all towers.
  bool keeps_numbers() const { return wire == WireType::fp32 && sync_every == 1; }
};

/// A way to train on this machine, or of this process together with others.
struct Way {
  std::vector<Device> devices;
  ParameterPlacement placement = ParameterPlacement::shared;
  bool async = false;
  int stages = 1;  ///< that each tower's model is cut into
  std::optional<WayTogether> together = std::nullopt;
  Precision precision = Precision::fp32;

  /// CPU cores that it uses, or cards.
  int size() const;
  /// "2 towers of 1 core, shared", "3 cards, spread, bf16", "1 tower of 2 stages of 1 core", "4 towers
  /// of 1 core in 2 processes, shared, bf16, meeting every 10 steps".
  std::string name() const;
  /// The options of `pagoda train` for it, as TOML.
  std::string config() const;
};

/// Every way that is worth a try: on cards one to all of them; on the CPU towers and cores of each
/// in powers of two, as many as fit; and for each those of `ways_on`.
std::vector<Way> possible_ways(const std::vector<Device>& devices, int layers);

/// The ways that use all of these devices: the placements that they can do, asynchronous updates,
/// and stages in powers of two, at most one for each of the model's layers. The first is also tried in
/// the precisions of 16 bits in which the devices are fast.
std::vector<Way> ways_on(const std::vector<Device>& devices, int layers);

/// The same of a process among several, in fp32, which do no asynchronous updates.
std::vector<Way> ways_on(const std::vector<Device>& devices, int layers,
                         const WayTogether& together);

/// 1, 2, 4, … and the number itself.
std::vector<int> powers_up_to(int most);

}  // namespace pagoda::app
