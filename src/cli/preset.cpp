#include <pagoda/base/error.h>
#include <pagoda/cli/preset.h>

namespace pagoda {

std::string preset_list(std::span<const Preset> presets) {
  std::string list;
  for (const Preset& preset : presets) {
    list += std::string(list.empty() ? "" : "; ") + preset.name + ": " + preset.about;
  }
  return list;
}

const Preset& find_preset(std::span<const Preset> presets, const std::string& name) {
  for (const Preset& preset : presets) {
    if (preset.name == name) return preset;
  }
  throw UsageError("there is no preset '" + name + "'; there are " + preset_list(presets));
}

}  // namespace pagoda
