#include "device/cpu_set.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <set>
#include <string>
#include <unistd.h>

namespace pagoda {
namespace {

constexpr int kMostCpus = 1 << 20;

/// A function of the OpenMP runtime that LibTorch has brought; null where it has none.
template <class Function>
Function* openmp(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

std::vector<int> read_cpu_set(const std::function<int(std::size_t bytes, cpu_set_t* set)>& get) {
  for (int cpus = CPU_SETSIZE; cpus <= kMostCpus; cpus *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(static_cast<std::size_t>(cpus)), [](cpu_set_t* raw) { CPU_FREE(raw); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus));
    CPU_ZERO_S(bytes, set.get());
    if (get(bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> found;
    for (int cpu = 0; cpu < cpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) found.push_back(cpu);
    }
    return found;
  }
  throw DeviceError(std::string("cannot read the process's CPU affinity: ") + std::strerror(errno));
}

bool openmp_binds_threads() {
  auto* const bind = openmp<int()>("omp_get_proc_bind");
  auto* const places = openmp<int()>("omp_get_num_places");
  return bind != nullptr && places != nullptr && bind() != 0 && places() > 0;
}

std::vector<int> cpus_of_process() {
  // The process's leader keeps the affinity that the user gave; tower threads are pinned later.
  std::vector<int> cpus = read_cpu_set(
      [](std::size_t bytes, cpu_set_t* set) { return sched_getaffinity(getpid(), bytes, set); });
  if (!openmp_binds_threads()) return cpus;
  auto* const places = openmp<int()>("omp_get_num_places");
  auto* const count_of = openmp<int(int)>("omp_get_place_num_procs");
  auto* const cpus_of = openmp<void(int, int*)>("omp_get_place_proc_ids");
  if (count_of == nullptr || cpus_of == nullptr) return cpus;
  std::set<int> all(cpus.begin(), cpus.end());
  for (int place = 0; place < places(); ++place) {
    std::vector<int> of_place(static_cast<std::size_t>(std::max(0, count_of(place))));
    if (!of_place.empty()) cpus_of(place, of_place.data());
    all.insert(of_place.begin(), of_place.end());
  }
  return {all.begin(), all.end()};
}

}  // namespace pagoda
