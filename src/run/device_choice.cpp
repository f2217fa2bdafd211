#include <pagoda/base/byte_size.h>
#include <pagoda/run/device_choice.h>

namespace pagoda {

ChosenDevices::ChosenDevices(const DeviceChoice& choice) {
  if (choice.soft_placement == SoftPlacement::Mode::on) soft_.emplace(choice.soft_placement);
  devices_ = with_memory(soft_ ? soft_->devices(choice.devices, choice.options)
                               : select_devices(choice.devices, choice.options),
                         choice.memory);
}

std::string ChosenDevices::warning() const {
  const auto shared = shared_cores(devices_);
  if (shared.empty()) return {};
  return std::to_string(devices_.size()) + " towers share " + std::to_string(shared.size()) +
         " of their cores and will be slower than fewer towers";
}

std::string memory_text(const std::vector<Device>& devices, const std::vector<MemoryUse>& uses) {
  std::string text = "memory";
  for (std::size_t i = 0; i < devices.size(); ++i) {
    text += (i > 0 ? ", " : " ") + devices[i].label() + " " + bytes_text(uses[i].in_use) +
            " (peak " + bytes_text(uses[i].peak) + ")";
    if (uses[i].limit) text += " of " + bytes_text(*uses[i].limit);
  }
  return text;
}

}  // namespace pagoda
