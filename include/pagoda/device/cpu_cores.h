#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// The processor as this process may use it.
struct CpuCores {
  std::vector<int> cores;  ///< operating-system numbers, one hardware thread a core, by locality
  std::string name;        ///< model name of the processor
  /// Whether the cores are the process's own: no CPU quota gives it less time than its affinity
  /// mask has hardware threads. Otherwise others run on them too, and only their number counts.
  bool owned = true;
};

/// The cores that this process may really use: its affinity mask, one hardware thread of each
/// physical core, and no more of them than the cgroup's CPU quota pays for (rounded up).
/// The quota is that of cgroups, version 1 or 2, as the files under `root` say it.
/// Fails: DeviceError when the topology cannot be read.
CpuCores usable_cores(const std::filesystem::path& root = "/");

/// How many cores the text of a cgroup v2 `cpu.max` file ("200000 100000", "max 100000") allows,
/// rounded up; nothing when there is no limit or the text is not understood.
std::optional<int> cores_of_cpu_max(std::string_view text);

/// Where OpenMP has bound the calling thread to its first place (OMP_PROC_BIND or OMP_PLACES in the
/// environment do so before `main`), lets it run again on all CPUs that the process was started on,
/// and with it the threads that it starts later. For the start of a program.
void free_of_openmp_places();

/// Lets the calling thread, and the threads that it starts later, run on these cores only.
/// Fails: DeviceError that names the cores when the system refuses.
void pin_this_thread(const std::vector<int>& cores);

}  // namespace pagoda
