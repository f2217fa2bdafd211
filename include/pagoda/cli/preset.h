#pragma once

#include <span>
#include <string>

namespace pagoda {

/// Options for a purpose, which a command has under a name.
struct Preset {
  const char* name;   ///< what `--preset` takes
  const char* about;  ///< what it is good for, for --help
  const char* toml;   ///< the options, as in a configuration file
};

/// The preset of that name. Fails: UsageError that lists the names when none fits.
const Preset& find_preset(std::span<const Preset> presets, const std::string& name);

/// "small: …; best: …" for --help.
std::string preset_list(std::span<const Preset> presets);

}  // namespace pagoda
