#pragma once

#include <pagoda/base/toml.h>

#include <string>
#include <vector>

namespace pagoda {

/// The entries of a configuration that is kept with a run; `source` names the configuration in
/// messages.
///
/// Earlier versions did not escape text, and wrote text that looks like a number as a number. A
/// configuration of theirs that is not TOML is read line by line, as `name = "text"`.
///
/// Fails: DataError, as parse_toml, when it is neither.
std::vector<TomlEntry> run_config_entries(const std::string& config, const std::string& source);

/// What may differ between the configurations of two starts of one run.
struct ConfigRules {
  /// Entries, as TOML, with the values to assume in a configuration that lacks them because it was
  /// written before they existed.
  std::string defaults = {};
  std::vector<std::string> changeable = {};  ///< names of entries that may change
};

/// Where two configurations differ, as "name: old value, now new value; …"; empty if they do not.
/// Values are compared, not how they are written: 1e-3 is 0.001. `before` may come from an earlier
/// version.
std::string config_differences(const std::string& before, const std::string& now,
                               const ConfigRules& rules = {});

}  // namespace pagoda
