#pragma once

#include <functional>
#include <optional>
#include <string>

namespace pagoda {

/// Where a process stands among those that train one model together.
struct WorldPlace {
  int rank = 0;                      ///< number of this process, from 0
  int size = 1;                      ///< how many processes there are
  int local_rank = 0;                ///< among the processes of this machine
  int local_size = 1;                ///< processes of this machine
  std::string master = "127.0.0.1";  ///< the machine of rank 0: a name or an address
  int port = 29500;                  ///< where rank 0 listens
  bool launcher_serves =
      false;  ///< the store at that port is the launcher's; else rank 0 serves it

  bool operator==(const WorldPlace&) const = default;
};

/// The value of a variable, or null.
using Environment = std::function<const char*(const char* name)>;

/// What the launcher of this process has put into its environment; nothing where it was started
/// alone, or as the only one.
///
/// | launcher | variables |
/// |---|---|
/// | torchrun | RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT |
/// | Slurm's srun | SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID, SLURM_STEP_NODELIST, … |
/// | Open MPI's mpirun | OMPI_COMM_WORLD_RANK, …_SIZE, …_LOCAL_RANK, …_LOCAL_SIZE |
/// | mpirun of MPICH and Intel | PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS |
///
/// MASTER_ADDR and MASTER_PORT override what a launcher says of the master. Open MPI and MPICH say
/// nothing: on several machines MASTER_ADDR must be set there.
/// Fails: UsageError that names the variable and its value.
std::optional<WorldPlace> launched_place(const Environment& environment);
/// The same in this process's environment.
std::optional<WorldPlace> launched_place();

}  // namespace pagoda
