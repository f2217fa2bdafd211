#include "device/device_text.h"

#include <pagoda/base/error.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

namespace pagoda {
namespace {

constexpr int kLongestRange = 1024;
constexpr std::size_t kMostNamed = 4096;  // a longer list is a slip, and would take long to read

UsageError unknown(std::string_view part, std::string_view text) {
  return UsageError("unknown device '" + std::string(part) + "' in '" + std::string(text) +
                    "'; use all, cpu, cuda, sim:4, a number, or a list such as cpu:0,cpu:1");
}

std::optional<DeviceKind> kind_of(std::string_view word) {
  for (const auto kind : {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::sim}) {
    if (word == kind_name(kind)) return kind;
  }
  return std::nullopt;
}

/// "2" as 2 to 2, "0-3" as 0 to 3.
std::optional<std::pair<int, int>> parse_range(std::string_view text) {
  const auto dash = std::min(text.find('-'), text.size());
  const auto first = parse_number(text.substr(0, dash));
  const auto last = dash == text.size() ? first : parse_number(text.substr(dash + 1));
  if (!first || !last || *last < *first || *last - *first >= kLongestRange) return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace

std::optional<int> parse_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || number < 0) {
    return std::nullopt;
  }
  return number;
}

std::optional<int> parse_sim_count(std::string_view text) {
  constexpr std::string_view kPrefix = "sim:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  const auto count = parse_number(text.substr(kPrefix.size()));
  return count && *count > 0 ? count : std::nullopt;
}

std::vector<NamedDevice> parse_device_list(std::string_view text) {
  std::vector<NamedDevice> named;
  std::optional<DeviceKind> kind;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    std::string_view numbers = part;
    if (const auto colon = part.find(':'); colon != std::string_view::npos) {
      kind = kind_of(part.substr(0, colon));
      numbers = part.substr(colon + 1);
    }
    const auto range = parse_range(numbers);
    if (!kind || !range) throw unknown(part, text);
    if (named.size() + static_cast<std::size_t>(range->second - range->first) >= kMostNamed) {
      throw UsageError("the list of devices names more than " + std::to_string(kMostNamed) +
                       " with '" + std::string(part) + "'; name fewer");
    }
    for (int count = 0; count <= range->second - range->first; ++count) {
      const int index = range->first + count;
      const bool again = std::any_of(named.begin(), named.end(), [&](const NamedDevice& other) {
        return other.kind == *kind && other.index == index;
      });
      if (again) {
        throw UsageError("device " + std::string(kind_name(*kind)) + ":" + std::to_string(index) +
                         " is listed twice in '" + std::string(text) + "'; name each device once");
      }
      named.push_back({*kind, index});
    }
    begin = end + 1;
  }
  return named;
}

}  // namespace pagoda
