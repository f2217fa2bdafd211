#pragma once

#include <cstddef>
#include <functional>
#include <sched.h>
#include <vector>

namespace pagoda {

/// The CPUs of a set of any size, in rising order. `get` is asked as sched_getaffinity is: it fills
/// a set of so many bytes, or returns -1 with errno EINVAL when the machine has more CPUs than
/// that. Fails: DeviceError with the system's reason.
std::vector<int> read_cpu_set(const std::function<int(std::size_t bytes, cpu_set_t* set)>& get);

/// The CPUs that the process was started on: its affinity, without what OpenMP made of it. With
/// OMP_PROC_BIND or OMP_PLACES in the environment, OpenMP binds the first thread as it is loaded.
std::vector<int> cpus_of_process();

/// Whether OpenMP binds the threads of parallel regions to places of its own.
bool openmp_binds_threads();

}  // namespace pagoda
