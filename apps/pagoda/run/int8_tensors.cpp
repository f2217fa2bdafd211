#include "run/int8_tensors.h"

#include <pagoda/base/error.h>
#include <pagoda/models/int8_weights.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace pagoda::app {
namespace {

constexpr std::string_view kValues = ".int8";
constexpr std::string_view kScales = ".scale";

}  // namespace

std::vector<NamedTensor> int8_tensors(const std::vector<NamedTensor>& weights) {
  std::vector<NamedTensor> narrow;
  for (const auto& [name, tensor] : weights) {
    if (tensor.dim() < 2 || !tensor.is_floating_point()) {
      narrow.push_back({name, tensor});
      continue;
    }
    const Int8Matrix matrix = int8_rows(tensor);
    narrow.push_back({name + std::string(kValues), matrix.values});
    narrow.push_back({name + std::string(kScales), matrix.scales});
  }
  return narrow;
}

std::vector<NamedTensor> widened_tensors(const std::vector<NamedTensor>& weights) {
  std::map<std::string, at::Tensor, std::less<>> by_name;
  for (const auto& [name, tensor] : weights) by_name[name] = tensor;
  std::map<std::string, at::Tensor, std::less<>> wide = by_name;
  for (const auto& [full_name, values] : by_name) {
    if (!full_name.ends_with(kValues) || values.scalar_type() != at::kChar) continue;
    const std::string name = full_name.substr(0, full_name.size() - kValues.size());
    const auto scales = by_name.find(name + std::string(kScales));
    if (scales == by_name.end() || values.dim() < 2 || scales->second.dim() != 1 ||
        scales->second.size(0) != values.size(0) || !scales->second.is_floating_point()) {
      throw DataError(full_name + " has no scale for each of its rows; " + name +
                      std::string(kScales) + " should have them");
    }
    wide.erase(full_name);
    wide.erase(scales->first);
    wide[name] = Int8Matrix{values, scales->second}.widened();
  }
  std::vector<NamedTensor> all;
  for (const auto& [name, tensor] : wide) all.push_back({name, tensor});
  return all;
}

}  // namespace pagoda::app
