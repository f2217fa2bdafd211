#include <pagoda/base/error.h>
#include <pagoda/base/grouped_number.h>
#include <pagoda/device/sim_devices.h>

#include "device/device_mask.h"

namespace pagoda {

std::vector<Device> simulate_devices(int count, const SimOptions& options) {
  if (count < 1 || count > kMostSimCards) {
    throw UsageError(std::to_string(count) + " simulated cards wanted; 1 to " +
                     std::to_string(kMostSimCards) + " are possible");
  }
  for (const auto& [card, single] : options.single_cards) {
    if (card < 0 || card >= count) {
      throw UsageError("options for sim:" + std::to_string(card) + ", but only " +
                       counted(count, "card") + (count == 1 ? " is" : " are") + " simulated");
    }
  }
  std::vector<SimCardSpec> cards;
  for (const int original : visible_numbers(DeviceKind::sim, count)) {
    const auto single = options.single_cards.find(original);
    cards.push_back(
        {single == options.single_cards.end() ? options.card : single->second, original});
  }
  if (cards.empty()) {
    throw UsageError("no simulated card is visible: " + std::string(kOtherMask) + " hides all " +
                     std::to_string(count) + "; unset it or name some");
  }
  simulate_cards(cards, options.missing_kernels, options.strict);
  return sim_devices();
}

std::vector<Device> sim_devices() {
  std::vector<Device> devices;
  for (int card = 0; card < sim_card_count(); ++card) {
    const SimCardSpec& spec = sim_card_spec(card);
    devices.push_back({.kind = DeviceKind::sim,
                       .index = card,
                       .original = spec.original,
                       .name = "simulated card",
                       .memory_bytes = spec.options.memory_bytes});
  }
  return devices;
}

}  // namespace pagoda
