#pragma once

#include <span>
#include <string>

namespace pagoda::app {

/// Options for a purpose; benchmarks/README.md has what those that were measured reached.
struct Preset {
  const char* name;
  const char* about;  ///< what it is good for, for --help
  const char* toml;   ///< the options, as in a configuration file
};

/// Presets of `pagoda train lenet5`.
std::span<const Preset> lenet5_presets();

/// Presets of `pagoda train seq2seq`.
std::span<const Preset> seq2seq_presets();

/// "text: …; best: …" for --help.
std::string preset_list(std::span<const Preset> presets);

/// Fails: UsageError that lists the names when none fits.
const Preset& find_preset(std::span<const Preset> presets, const std::string& name);

}  // namespace pagoda::app
