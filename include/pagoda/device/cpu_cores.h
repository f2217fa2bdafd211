#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// The part of the processor that this process may use.
struct CpuCores {
  std::vector<int> cores;  ///< operating-system numbers, one hardware thread per core, by locality
  std::string name;        ///< model name of the processor
  /// Whether the cores are the process's own: no CPU quota gives it less time than its affinity
  /// mask has hardware threads. Otherwise other processes run on them too, and only their number
  /// counts.
  bool owned = true;
};

/// The cores that this process can really use: one hardware thread of each physical core in its
/// affinity mask, and no more of them than the cgroup's CPU quota pays for (rounded up). The quota
/// is that of cgroups, version 1 or 2, read from the files under `root`.
/// Fails: DeviceError if the topology cannot be read.
CpuCores usable_cores(const std::filesystem::path& root = "/");

/// How many cores the text of a cgroup v2 `cpu.max` file ("200000 100000", "max 100000") allows,
/// rounded up; nothing if there is no limit or the text cannot be parsed.
std::optional<int> cores_of_cpu_max(std::string_view text);

/// If OpenMP has bound the calling thread to its first place (with OMP_PROC_BIND or OMP_PLACES in
/// the environment it does so before `main`), lets this thread, and the threads that it starts
/// later, run on all CPUs that the process was started on. Call it at the start of a program.
void free_of_openmp_places();

/// Restricts the calling thread, and the threads that it starts later, to these cores.
/// Fails: DeviceError naming the cores if the system refuses.
void pin_this_thread(const std::vector<int>& cores);

}  // namespace pagoda
