#include <pagoda/placement/on.h>

#include <c10/core/DeviceGuard.h>

#include "base/compute_threads.h"
#include "device/device_cores.h"

namespace pagoda::detail {

void run_on_device(const Device& device, const at::ThreadLocalState& caller,
                   const std::function<void()>& work) {
  const at::ThreadLocalStateGuard as_the_caller(caller);
  if (device.kind != DeviceKind::cpu) {
    const c10::OptionalDeviceGuard current(device.torch_device());
    if (device.kind == DeviceKind::sim) set_compute_threads(1);  // a card is one core of the host
    return work();
  }
  if (!device.cores.empty()) take_cores(device);
  work();
}

}  // namespace pagoda::detail
