#include "device/device_mask.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>
#include <set>
#include <string>

namespace pagoda {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n\r";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string_view without_quotes(std::string_view text) {
  text = trimmed(text);
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.front() == text.back();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

/// The number that the entry begins with; -1 when it begins with none, or with a negative one.
int leading_number(std::string_view entry) {
  if (entry.starts_with('+')) entry.remove_prefix(1);
  int number = -1;
  std::from_chars(entry.data(), entry.data() + entry.size(), number);
  return std::max(number, -1);
}

/// The kind that "sim:1" names.
std::optional<DeviceKind> named_kind(std::string_view entry) {
  const std::string_view word = entry.substr(0, std::min(entry.find(':'), entry.size()));
  for (const auto kind : {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::sim}) {
    if (entry.size() > word.size() && word == kind_name(kind)) return kind;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<MaskEntry>> parse_mask(std::string_view text, DeviceKind kind) {
  std::vector<MaskEntry> entries;
  std::set<std::string> seen;
  bool for_this_kind = false;
  for (std::string_view part : split(without_quotes(text))) {
    if (const auto named = named_kind(part)) {
      if (*named != kind) continue;
      part.remove_prefix(part.find(':') + 1);
    }
    for_this_kind = true;
    const bool uuid = part.starts_with("GPU-") || part.starts_with("MIG-");
    const int number = uuid ? -1 : leading_number(part);
    if (!uuid && number < 0) break;
    if (!seen.insert(uuid ? std::string(part) : std::to_string(number)).second) {
      return std::vector<MaskEntry>{};
    }
    entries.push_back({number});
  }
  if (!for_this_kind) return std::nullopt;
  return entries;
}

std::vector<int> visible_numbers(std::optional<std::string_view> mask, DeviceKind kind, int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto entries = mask ? parse_mask(*mask, kind) : std::nullopt;
  if (!entries) return numbers;
  numbers.clear();
  for (const auto& entry : *entries) {
    if (entry.number < 0 || entry.number >= count) break;
    numbers.push_back(entry.number);
  }
  return numbers;
}

std::vector<int> visible_numbers(DeviceKind kind, int count) {
  return visible_numbers(mask_of(kind), kind, count);
}

std::optional<std::string_view> mask_of(DeviceKind kind) {
  const char* text = std::getenv(kind == DeviceKind::cuda ? kCudaMask : kOtherMask);
  return text == nullptr ? std::nullopt : std::optional<std::string_view>(text);
}

}  // namespace pagoda
