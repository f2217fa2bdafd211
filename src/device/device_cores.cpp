#include "device/device_cores.h"

#include <pagoda/base/error.h>
#include <pagoda/device/cpu_cores.h>

#include <ATen/Parallel.h>

#include "base/compute_threads.h"
#include "device/cpu_set.h"

namespace pagoda {

void take_cores(const Device& device) {
  if (device.cores.empty()) throw DeviceError(device.label() + " has no cores to compute with");
  const auto count = static_cast<std::int64_t>(device.cores.size());
  const bool openmp_binds = openmp_binds_threads();
  // Where the system is to choose, an OpenMP that binds would still put every tower on its first
  // place.
  const std::vector<int> cores = device.pinned  ? device.cores
                                 : openmp_binds ? cpus_of_process()
                                                : std::vector<int>();
  // Before the first parallel region: OpenMP's threads inherit it.
  if (!cores.empty()) pin_this_thread(cores);
  set_compute_threads(static_cast<int>(count));
  if (!openmp_binds) return;
  // OpenMP binds each thread once, as it enters its first region.
  at::parallel_for(0, count, 1, [&](std::int64_t, std::int64_t) { pin_this_thread(cores); });
  pin_this_thread(cores);
}

}  // namespace pagoda
