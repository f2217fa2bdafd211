#include <pagoda/base/error.h>

#include <cstdlib>
#include <set>
#include <utility>

#include "device/device_mask.h"
#include "device/device_text.h"
#include "fuzz/fuzz_target.h"

namespace pagoda::fuzz {
namespace devices_fuzz {

constexpr DeviceKind kKinds[] = {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::sim};

/// The mask of an environment variable, for machines with none, one and several devices.
std::string masked(const std::string& text) {
  setenv(kCudaMask, text.c_str(), 1);
  setenv(kOtherMask, text.c_str(), 1);
  std::string found;
  for (const DeviceKind kind : kKinds) {
    for (const int count : {0, 1, 5}) {
      const auto numbers = visible_numbers(text, kind, count);
      require(visible_numbers(kind, count) == numbers, "the environment's mask is read otherwise");
      require(std::set<int>(numbers.begin(), numbers.end()).size() == numbers.size(),
              "a mask shows a device twice");
      for (const int number : numbers) {
        require(number >= 0 && number < count, "a mask shows a device that is not there");
        found += std::to_string(number) + ",";
      }
      found += "\n";
    }
  }
  return found;
}

/// A mask, and a text as it follows --devices.
std::string read(std::string_view text) {
  std::string found = masked(std::string(text.substr(0, text.find('\0'))));
  if (const auto number = parse_number(text)) {
    require(*number >= 0, "a number of devices is negative");
    found += std::to_string(*number);
  }
  if (const auto count = parse_sim_count(text)) {
    require(*count > 0, "there are no simulated cards to be");
    found += std::to_string(*count);
  }
  std::set<std::pair<DeviceKind, int>> seen;
  for (const auto& [kind, index] : parse_device_list(text)) {
    require(index >= 0 && seen.emplace(kind, index).second, "a device is named twice");
    found += std::string(kind_name(kind)) + ":" + std::to_string(index) + "\n";
  }
  return found;
}

const Registration registration{{"devices", &read}};

}  // namespace devices_fuzz
}  // namespace pagoda::fuzz
