#include <pagoda/device/cpu_cores.h>

#include "device/cgroup.h"
#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace cgroup_fuzz {

/// A tree of the files that the system writes: the same text for version 1 and 2 where both have
/// it. Made once; its files are written anew.
class System {
 public:
  System() : root_(input_file("", "root").parent_path() / "system") {
    for (const char* folder : {"proc/self", "sys/fs/cgroup/a/b"})
      std::filesystem::create_directories(root_ / folder);
  }

  const std::filesystem::path& write(const std::vector<std::string_view>& parts) {
    put("proc/self/cgroup", parts[0]);
    put("proc/self/mountinfo", parts[1]);
    for (const char* folder : {"sys/fs/cgroup/", "sys/fs/cgroup/a/", "sys/fs/cgroup/a/b/"}) {
      const std::string group = folder;
      put(group + "cpu.max", parts[2]);
      put(group + "cpu.cfs_quota_us", parts[2]);
      put(group + "cpu.cfs_period_us", "100000\n");
      for (const char* name : {"memory.max", "memory.limit_in_bytes"}) put(group + name, parts[3]);
      for (const char* name : {"memory.current", "memory.usage_in_bytes"})
        put(group + name, parts[4]);
      put(group + "memory.stat", parts[5]);
    }
    return root_;
  }

 private:
  void put(const std::string& name, std::string_view text) {
    input_file(text, "system/" + name);
  }

  std::filesystem::path root_;
};

/// proc/self/cgroup, mountinfo, the CPU quota, memory limit, use and statistics.
std::string read(std::string_view bytes) {
  static System system;
  const auto parts = parts_of(bytes, 6);
  const CgroupLimits limits = cgroup_limits(system.write(parts));
  const auto cores = cores_of_cpu_max(parts[2]);
  require(!cores || *cores > 0, "a quota of no core");
  require(!limits.cpus || *limits.cpus > 0, "a limit of no core");
  require(limits.memory_left.value_or(0) <= limits.memory_bytes.value_or(0),
          "more memory is left than there is");
  return std::to_string(limits.cpus.value_or(-1)) + " " +
         std::to_string(limits.memory_bytes.value_or(-1)) + " " +
         std::to_string(limits.memory_left.value_or(-1));
}

const Registration registration{{"cgroup", &read}};

}  // namespace cgroup_fuzz
}  // namespace pagoda::fuzz
