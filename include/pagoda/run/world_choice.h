#pragma once

#include <pagoda/data/tower_share.h>
#include <pagoda/world/world.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace pagoda {

/// Which processes train together. What is unset is what a launcher (torchrun, srun, mpirun) says in
/// the environment; without one the process is alone.
struct WorldChoice {
  std::optional<int> rank = std::nullopt;  ///< number of this process, from 0
  std::optional<int> size = std::nullopt;  ///< how many processes there are
  std::string master = {};                 ///< "host:port" of rank 0; empty: the launcher's
  /// How long a process waits for the others to come, and for what they send in a step.
  std::optional<std::chrono::duration<double>> join_timeout = std::nullopt;
  /// For what others send in a step.
  std::optional<std::chrono::duration<double>> step_timeout = std::nullopt;
};

/// Where the process stands among the others; nothing when it is alone.
/// Fails: UsageError for a rank without a number of processes, and numbers that do not fit.
std::optional<WorldPlace> chosen_place(const WorldChoice& choice, const Environment& environment);
/// The same in this process's environment.
std::optional<WorldPlace> chosen_place(const WorldChoice& choice);

/// How long a world waits for whom.
WorldOptions world_options(const WorldChoice& choice);

struct DeviceChoice;

/// The processes that train together, or null for one that is alone; tells `devices` this process's
/// part of its machine. Fails: as chosen_place; WorldError when the others do not come.
std::shared_ptr<World> join_world(const WorldChoice& choice, DeviceChoice& devices);

/// Which of the towers of all processes are this one's, which has so many; all call it together. Null: it
/// is alone. Fails: WorldError.
TowerShare tower_share(World* world, int towers);

}  // namespace pagoda
