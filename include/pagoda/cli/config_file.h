#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace pagoda {

/// A command's options and their values as TOML, one `name = value` a line in the order of --help,
/// without those in `left_out`. A value is written by the type of its option: a file called 1e5 is
/// text, a number is written so that the same number is read.
/// Fails: UsageError for text that is not UTF-8.
std::string config_text(const CLI::App& command, const std::vector<std::string>& left_out = {});

/// The same for apply_config_file: without the defaults of options that others, which were given,
/// exclude.
std::string config_file_text(const CLI::App& command, const std::vector<std::string>& left_out);

/// The same with every option's default, whatever was given.
std::string config_defaults(const CLI::App& command, const std::vector<std::string>& left_out);

/// Sets from a TOML text what is still unset; `source` says in messages where the text came from.
///
/// The `config.toml` of a run of this command is such a text: its entry `model` is the command's name.
/// Text stands in quotation marks; whole numbers may do without, such as devices = 2. An option
/// that can be given several times takes a list, too.
///
/// Fails: UsageError as "SOURCE:LINE:COLUMN: …" when the text is not TOML, when the command has no
/// such option, and when its value is of another type or does not fit; UsageError that says where
/// both are from when two options that exclude each other are set.
void apply_config(CLI::App& command, const std::string& toml, const std::string& source);

/// The same from a file. Fails: IoError besides, when it cannot be read.
void apply_config_file(CLI::App& command, const std::filesystem::path& file);

/// The same from what goes below everything that was given: of two options that exclude each other,
/// that of the text is left out.
void apply_below(CLI::App& command, const std::string& toml, const std::string& source);

/// The same from the configuration that a run keeps, its entry `model` left out; see
/// run_config_entries.
void apply_run_config(CLI::App& command, const std::string& config);

/// The value of an entry of a configuration that a run keeps; nothing if it has none.
/// Fails: DataError as run_config_entries.
std::optional<std::string> config_value(const std::string& config, const std::string& name);

}  // namespace pagoda
