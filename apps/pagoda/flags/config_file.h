#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace pagoda::app {

/// A command's options and their values as TOML, one `name = value` a line in the order of --help,
/// without those in `left_out`.
std::string config_text(const CLI::App& command, const std::vector<std::string>& left_out = {});

/// Sets from TOML what is still unset; `source` says in messages where the text came from.
/// Fails: UsageError that names the source and the entry when the command has no such option or its
/// value does not fit.
void apply_config(CLI::App& command, const std::string& toml, const std::string& source);

/// The same from a file. Fails: IoError besides, when it cannot be read.
void apply_config_file(CLI::App& command, const std::filesystem::path& file);

/// The value of an entry that `config_text` wrote, without quotation marks; nothing if it has none.
std::optional<std::string> config_value(const std::string& toml, const std::string& name);

/// The text without the line of that entry.
std::string without_entry(const std::string& toml, const std::string& name);

}  // namespace pagoda::app
