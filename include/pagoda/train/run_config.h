#pragma once

#include <pagoda/base/toml.h>

#include <string>
#include <vector>

namespace pagoda {

/// The entries of a configuration that is kept with a run; `source` says in messages where it is.
///
/// Runs of before this version did not escape what they wrote, and took for a number what looked
/// like one. What of theirs is not TOML is taken line by line, `name = "text"`.
///
/// Fails: DataError as parse_toml when it is neither.
std::vector<TomlEntry> run_config_entries(const std::string& config, const std::string& source);

/// What the configurations of two starts of one run need not have in common.
struct ConfigRules {
  /// Entries with the values that they had before they existed: a configuration that lacks one of
  /// them has its value.
  std::string defaults = {};
  std::vector<std::string> changeable = {};  ///< names of entries that may change
};

/// Where two configurations differ, as "name: old value, now new value; …". Values count, not how
/// they are written: 1e-3 is 0.001. `before` may be of a run of before this version.
std::string config_differences(const std::string& before, const std::string& now,
                               const ConfigRules& rules = {});

}  // namespace pagoda
