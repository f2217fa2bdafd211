#pragma once

#include <pagoda/data/tower_share.h>
#include <pagoda/world/world.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace pagoda {

/// Which processes train together. Set `rank`, `size` and `master` together, or leave all three to
/// a launcher (torchrun, srun, mpirun) and what it puts into the environment; without one the
/// process is alone.
struct WorldChoice {
  std::optional<int> rank = std::nullopt;  ///< number of this process, from 0
  std::optional<int> size = std::nullopt;  ///< number of processes
  std::string master = {};                 ///< "host:port" of rank 0; empty: the launcher's
  /// How long to wait for the others at the start; unset: as in WorldOptions.
  std::optional<std::chrono::duration<double>> join_timeout = std::nullopt;
  /// How long to wait for what others send in a step; unset: as in WorldOptions.
  std::optional<std::chrono::duration<double>> step_timeout = std::nullopt;
};

/// This process's place among the others; nothing when it is alone.
/// Fails: UsageError when only some of rank, size and master are set, or when they do not fit
/// together; otherwise as launched_place.
std::optional<WorldPlace> chosen_place(const WorldChoice& choice, const Environment& environment);
/// The same, with this process's environment.
std::optional<WorldPlace> chosen_place(const WorldChoice& choice);

/// How long the processes wait for each other.
WorldOptions world_options(const WorldChoice& choice);

struct DeviceChoice;

/// Joins the processes that train together; null for a process that is alone. Sets this process's
/// share of its machine in `devices`. Fails: as chosen_place; WorldError when the others do not
/// join.
std::shared_ptr<World> join_world(const WorldChoice& choice, DeviceChoice& devices);

/// Which of the towers of all processes belong to this one, which has `towers` of them; all
/// processes call it together. A null `world` means that it is alone. Fails: WorldError.
TowerShare tower_share(World* world, int towers);

}  // namespace pagoda
