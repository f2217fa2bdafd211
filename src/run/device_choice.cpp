#include <pagoda/base/byte_size.h>
#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/run/device_choice.h>

namespace pagoda {

namespace {

/// The part of a process among several on this machine.
std::vector<Device> own_part(std::vector<Device> all, const DeviceChoice& choice) {
  if (choice.local_size == 1 || choice.devices != DeviceChoice{}.devices) return all;
  const auto count = static_cast<int>(all.size());
  if (count < choice.local_size) {
    throw UsageError(counted(choice.local_size, "process") + " on this machine cannot divide " +
                     counted(count, "device") +
                     "; start fewer, or name each one's devices (--devices)");
  }
  const int begin = count * choice.local_rank / choice.local_size;
  const int end = count * (choice.local_rank + 1) / choice.local_size;
  return {all.begin() + begin, all.begin() + end};
}

}  // namespace

ChosenDevices::ChosenDevices(const DeviceChoice& choice) {
  if (choice.soft_placement == SoftPlacement::Mode::on) soft_.emplace(choice.soft_placement);
  devices_ = with_memory(own_part(soft_ ? soft_->devices(choice.devices, choice.options)
                                        : select_devices(choice.devices, choice.options),
                                  choice),
                         choice.memory);
}

std::string ChosenDevices::warning() const {
  const auto shared = shared_cores(devices_);
  if (shared.empty()) return {};
  return counted(std::ssize(devices_), "tower") + " share " + std::to_string(shared.size()) +
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
