#include <pagoda/base/error.h>
#include <pagoda/device/cpu_cores.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <sched.h>
#include <sstream>

#include <hwloc.h>

#include "device/cgroup.h"
#include "device/cpu_set.h"

namespace pagoda {
namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) {
    throw DeviceError("hwloc could not start reading the processor's topology");
  }
  Topology topology(raw, &hwloc_topology_destroy);
  if (hwloc_topology_load(raw) != 0) {
    throw DeviceError("hwloc could not read the processor's topology from /sys");
  }
  return topology;
}

/// The first hardware thread of the core that is allowed (they are in rising order); -1 if there is
/// none.
int first_allowed(hwloc_const_cpuset_t core, const std::vector<int>& allowed) {
  for (int pu = hwloc_bitmap_first(core); pu != -1; pu = hwloc_bitmap_next(core, pu)) {
    if (std::binary_search(allowed.begin(), allowed.end(), pu)) return pu;
  }
  return -1;
}

std::string model_name(hwloc_topology_t topology) {
  hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const char* model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
  std::string name = model ? model : "CPU";
  while (!name.empty() && name.back() == ' ') name.pop_back();
  return name;
}

}  // namespace

std::optional<int> cores_of_cpu_max(std::string_view text) {
  std::istringstream words{std::string(text)};
  long quota = 0;
  long period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  const long cores = quota / period + (quota % period > 0 ? 1 : 0);
  return static_cast<int>(std::min<long>(cores, std::numeric_limits<int>::max()));
}

CpuCores usable_cores(const std::filesystem::path& root) {
  const Topology topology = load_topology();
  const std::vector<int> allowed = cpus_of_process();
  CpuCores result{.cores = {}, .name = model_name(topology.get())};
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr) {
    if (const int pu = first_allowed(core->cpuset, allowed); pu >= 0) result.cores.push_back(pu);
  }
  // Some containers hide the cores and show hardware threads only.
  if (result.cores.empty()) result.cores = allowed;
  if (const auto cpus = cgroup_limits(root).cpus) {
    result.owned = *cpus >= static_cast<int>(allowed.size());
    result.cores.resize(std::min(result.cores.size(), static_cast<std::size_t>(*cpus)));
  }
  return result;
}

void free_of_openmp_places() {
  if (openmp_binds_threads()) pin_this_thread(cpus_of_process());
}

void pin_this_thread(const std::vector<int>& cores) {
  const auto cpus = static_cast<std::size_t>(
      cores.empty() ? 1 : *std::max_element(cores.begin(), cores.end()) + 1);
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(cpus),
                                                             [](cpu_set_t* raw) { CPU_FREE(raw); });
  const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
  CPU_ZERO_S(bytes, set.get());
  std::string list;
  for (const int core : cores) {
    CPU_SET_S(static_cast<std::size_t>(core), bytes, set.get());
    list += (list.empty() ? "" : ",") + std::to_string(core);
  }
  if (sched_setaffinity(0, bytes, set.get()) != 0) {
    throw DeviceError("cannot pin a thread to cores " + list + ": " + std::strerror(errno) +
                      "; check the process's affinity and cpuset");
  }
}

}  // namespace pagoda
