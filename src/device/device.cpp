#include <pagoda/device/device.h>

#include <algorithm>

namespace pagoda {

const char* kind_name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cuda:
      return "cuda";
    case DeviceKind::sim:
      return "sim";
    default:
      return "cpu";
  }
}

std::string Device::label() const {
  return std::string(kind_name(kind)) + ":" + std::to_string(index);
}

c10::Device Device::torch_device() const {
  const auto number = static_cast<c10::DeviceIndex>(index);
  switch (kind) {
    case DeviceKind::cuda:
      return {c10::kCUDA, number};
    case DeviceKind::sim:
      return {c10::kPrivateUse1, number};
    default:
      return c10::kCPU;
  }
}

bool share_memory(const std::vector<Device>& devices) {
  return std::all_of(devices.begin(), devices.end(),
                     [](const Device& device) { return device.kind == DeviceKind::cpu; });
}

}  // namespace pagoda
