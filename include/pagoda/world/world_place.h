#pragma once

#include <functional>
#include <optional>
#include <string>

namespace pagoda {

/// A process's place among those that train one model together.
struct WorldPlace {
  int rank = 0;                      ///< number of this process, from 0
  int size = 1;                      ///< number of processes
  int local_rank = 0;                ///< number among the processes on this machine, from 0
  int local_size = 1;                ///< processes on this machine
  std::string master = "127.0.0.1";  ///< the machine of rank 0: a name or an address
  int port = 29500;                  ///< where rank 0, or the launcher, serves the store
  /// Whether the launcher serves the store; otherwise rank 0 does.
  bool launcher_serves = false;

  bool operator==(const WorldPlace&) const = default;
};

/// Looks up a variable; null if it is not set.
using Environment = std::function<const char*(const char* name)>;

/// The place that a launcher has given this process in its environment; nothing if there is no
/// launcher, or only one process.
///
/// | launcher | variables |
/// |---|---|
/// | torchrun | RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT |
/// | Slurm's srun | SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID, SLURM_STEP_NODELIST, … |
/// | Open MPI's mpirun | OMPI_COMM_WORLD_RANK, …_SIZE, …_LOCAL_RANK, …_LOCAL_SIZE |
/// | mpirun of MPICH and Intel | PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS |
///
/// MASTER_ADDR and MASTER_PORT override the launcher's own. Open MPI and MPICH do not provide a
/// master, so MASTER_ADDR must be set for several machines.
/// Fails: UsageError that names the variable and its value, or the variable that is missing.
std::optional<WorldPlace> launched_place(const Environment& environment);
/// The same, with this process's environment.
std::optional<WorldPlace> launched_place();

}  // namespace pagoda
