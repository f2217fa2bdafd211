#include <pagoda/device/device.h>

namespace pagoda {

const char* kind_name(DeviceKind kind) { return kind == DeviceKind::cpu ? "cpu" : "cuda"; }

std::string Device::label() const {
  return std::string(kind_name(kind)) + ":" + std::to_string(index);
}

c10::Device Device::torch_device() const {
  if (kind == DeviceKind::cpu) return c10::Device(c10::kCPU);
  return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
}

}  // namespace pagoda
