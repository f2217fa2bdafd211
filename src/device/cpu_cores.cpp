#include <pagoda/base/error.h>
#include <pagoda/device/cpu_cores.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <sched.h>
#include <sstream>
#include <unistd.h>

#include <hwloc.h>

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

cpu_set_t affinity_of_process() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // The process's leader keeps the affinity that the user gave; tower threads are pinned later.
  if (sched_getaffinity(getpid(), sizeof mask, &mask) != 0) {
    throw DeviceError(std::string("cannot read the process's CPU affinity: ") +
                      std::strerror(errno));
  }
  return mask;
}

/// The first hardware thread of the core that the mask allows; -1 if there is none.
int first_allowed(hwloc_const_cpuset_t core, const cpu_set_t& mask) {
  for (int pu = hwloc_bitmap_first(core); pu != -1; pu = hwloc_bitmap_next(core, pu)) {
    if (pu < CPU_SETSIZE && CPU_ISSET(pu, &mask)) return pu;
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

/// The tightest quota on the path from this process's cgroup (v2) to the root.
std::optional<int> cgroup_limit() {
  std::ifstream self("/proc/self/cgroup");
  std::string line;
  std::string path;
  while (std::getline(self, line)) {
    if (line.rfind("0::", 0) == 0) path = line.substr(3);
  }
  std::optional<int> tightest;
  while (true) {
    std::ifstream file("/sys/fs/cgroup" + path + "/cpu.max");
    std::stringstream text;
    text << file.rdbuf();
    if (const auto limit = cores_of_cpu_max(text.str());
        limit && (!tightest || *limit < *tightest)) {
      tightest = limit;
    }
    if (path.empty() || path == "/") return tightest;
    path.resize(path.rfind('/'));
  }
}

}  // namespace

std::optional<int> cores_of_cpu_max(std::string_view text) {
  std::istringstream words{std::string(text)};
  long quota = 0;
  long period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return static_cast<int>((quota + period - 1) / period);
}

CpuCores usable_cores() {
  const Topology topology = load_topology();
  const cpu_set_t mask = affinity_of_process();
  CpuCores result{.cores = {}, .name = model_name(topology.get())};
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr) {
    if (const int pu = first_allowed(core->cpuset, mask); pu >= 0) result.cores.push_back(pu);
  }
  if (result.cores.empty()) {  // some containers hide the cores and show hardware threads only
    for (int pu = 0; pu < CPU_SETSIZE; ++pu) {
      if (CPU_ISSET(pu, &mask)) result.cores.push_back(pu);
    }
  }
  if (const auto limit = cgroup_limit(); limit && *limit < static_cast<int>(result.cores.size())) {
    result.cores.resize(static_cast<std::size_t>(*limit));
  }
  return result;
}

void pin_this_thread(const std::vector<int>& cores) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::string list;
  for (const int core : cores) {
    CPU_SET(core, &mask);
    list += (list.empty() ? "" : ",") + std::to_string(core);
  }
  if (sched_setaffinity(0, sizeof mask, &mask) != 0) {
    throw DeviceError("cannot pin a thread to cores " + list + ": " + std::strerror(errno) +
                      "; check the process's affinity and cpuset");
  }
}

}  // namespace pagoda
