#pragma once

#include <pagoda/device/device.h>

#include <optional>
#include <string_view>
#include <vector>

namespace pagoda {

/// A device as a text names it; it need not exist.
struct NamedDevice {
  DeviceKind kind;
  int index;
};

/// "cuda:0,1" as (cuda, 0), (cuda, 1); "sim:0-3" as four.
/// Fails: UsageError that names the bad part: unknown, or listed twice.
std::vector<NamedDevice> parse_device_list(std::string_view text);

/// A whole number that is not negative, and nothing else.
std::optional<int> parse_number(std::string_view text);

/// The number of cards that "sim:4" asks for: a single positive number behind "sim:".
std::optional<int> parse_sim_count(std::string_view text);

}  // namespace pagoda
