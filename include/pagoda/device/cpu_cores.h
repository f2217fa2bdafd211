#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pagoda {

/// The processor as this process may use it.
struct CpuCores {
  std::vector<int> cores;  ///< operating-system numbers, one hardware thread a core, by locality
  std::string name;        ///< model name of the processor
};

/// The cores that this process may really use: its affinity mask, one hardware thread of each
/// physical core, and no more of them than the cgroup's CPU quota pays for (rounded up).
/// Fails: DeviceError when the topology cannot be read.
CpuCores usable_cores();

/// How many cores the text of a cgroup v2 `cpu.max` file ("200000 100000", "max 100000") allows,
/// rounded up; nothing when there is no limit or the text is not understood.
std::optional<int> cores_of_cpu_max(std::string_view text);

/// Lets the calling thread, and the threads that it starts later, run on these cores only.
/// Fails: DeviceError that names the cores when the system refuses.
void pin_this_thread(const std::vector<int>& cores);

}  // namespace pagoda
