#pragma once

#include <pagoda/pipeline/stages.h>
#include <pagoda/placement/placement_log.h>
#include <pagoda/tower/tower_group.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

enum class LogPlacement { no, yes };

/// What a run has to say about its towers' devices: what they take of their memory and, where it is
/// asked for, which operators ran where.
///
/// Threads: the coordinating thread. Borrows: the towers, and their stages where they have any.
class TowerWatch {
 public:
  TowerWatch(const TowerGroup& towers, const Stages* stages, LogPlacement log_placement);

  /// Of all stages of the first tower, then of the second, …; what follows has the same order.
  std::vector<Device> devices() const;
  /// "tower_0", "tower_1", …; with stages "tower_0_stage_0", ….
  std::vector<std::string> names() const;
  std::vector<MemoryUse> memory() const;

  /// A line for each operator, place and combination of devices that was not there at the last
  /// call.
  std::vector<std::string> new_operators();

 private:
  /// What `get(tower, stage)` gives for each device.
  template <class Get>
  auto by_device(Get get) const;

  const TowerGroup& towers_;
  const Stages* const stages_;
  std::optional<PlacementLog> placement_;
  std::size_t told_ = 0;  // operators of it
};

}  // namespace pagoda
