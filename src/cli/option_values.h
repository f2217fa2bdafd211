#pragma once

#include <pagoda/base/toml.h>

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace pagoda {

/// An option's value as TOML has it, by the option's type: what was given, or its default. Nothing
/// for one that has no value.
std::optional<TomlValue> option_value(const CLI::Option& option);

/// The same of its default alone.
std::optional<TomlValue> option_default(const CLI::Option& option);

/// How strictly a value must be of its option's type.
enum class TypeCheck {
  strict,
  by_looks,  ///< what is no text may stand for it: runs once wrote 1e5 for a file of that name
};

/// The words that an entry's value is on a command line.
/// Fails: UsageError that says what the option takes, for a value of another type.
std::vector<std::string> option_words(const CLI::Option& option, const TomlEntry& entry,
                                      TypeCheck check);

}  // namespace pagoda
