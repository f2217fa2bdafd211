#pragma once

#include <pagoda/placement/placement_log.h>
#include <pagoda/tower/tower_group.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pagoda::app {

enum class LogPlacement { no, yes };

/// What a run has to say about its towers' devices: what they take of their memory and, where it is
/// asked for, which operators ran where.
///
/// Threads: the coordinating thread. Borrows: the towers.
class TowerWatch {
 public:
  TowerWatch(const TowerGroup& towers, LogPlacement log_placement);

  std::vector<Device> devices() const;
  std::vector<MemoryUse> memory() const;

  /// A line for each operator, place and combination of devices that was not there at the last
  /// call.
  std::vector<std::string> new_operators();

 private:
  const TowerGroup& towers_;
  std::optional<PlacementLog> placement_;
  std::size_t told_ = 0;  // operators of it
};

}  // namespace pagoda::app
