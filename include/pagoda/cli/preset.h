#pragma once

#include <span>
#include <string>

namespace pagoda {

/// A named set of options for some purpose.
struct Preset {
  const char* name;   ///< what `--preset` takes
  const char* about;  ///< what it is good for, for --help
  const char* toml;   ///< the options, as in a configuration file
};

/// The preset with that name. Fails: UsageError that lists the presets when there is none.
const Preset& find_preset(std::span<const Preset> presets, const std::string& name);

/// "small: …; best: …" for --help.
std::string preset_list(std::span<const Preset> presets);

}  // namespace pagoda
