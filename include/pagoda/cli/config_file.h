#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace pagoda {

/// A command's options and their values as TOML, one `name = value` per line in the order of
/// --help, without those named in `left_out`. Each value is written according to the type of its
/// option: a file called 1e5 is text, and a number reads back as the same number.
/// Fails: UsageError for text that is not UTF-8.
std::string config_text(const CLI::App& command, const std::vector<std::string>& left_out = {});

/// The same in the form that apply_config_file accepts: without the defaults of options that are
/// excluded by others that were given.
std::string config_file_text(const CLI::App& command, const std::vector<std::string>& left_out);

/// The same with the default of every option, whatever was given.
std::string config_defaults(const CLI::App& command, const std::vector<std::string>& left_out);

/// Sets from a TOML text the options that are still unset; `source` names the text in messages.
///
/// The `config.toml` of a run of this command is such a text: its entry `model` is the command's
/// name. Text is quoted; a whole number may stand for text without quotation marks, such as devices
/// = 2. An option that can be given several times also takes a list.
///
/// Fails: UsageError as "SOURCE:LINE:COLUMN: …" when the text is not TOML, when the command has no
/// such option, and when a value has the wrong type or is not accepted; UsageError that says where
/// both come from when two options that exclude each other are set.
void apply_config(CLI::App& command, const std::string& toml, const std::string& source);

/// The same from a file. Fails: also IoError when the file cannot be read.
void apply_config_file(CLI::App& command, const std::filesystem::path& file);

/// The same with lower precedence than everything that was given: an option of the text is ignored
/// if one that excludes it is already set.
void apply_below(CLI::App& command, const std::string& toml, const std::string& source);

/// The same from the configuration that a run keeps, without its entry `model`; see
/// run_config_entries.
void apply_run_config(CLI::App& command, const std::string& config);

/// The value of an entry in the configuration that a run keeps; nothing if there is no such entry.
/// Fails: DataError, as run_config_entries.
std::optional<std::string> config_value(const std::string& config, const std::string& name);

}  // namespace pagoda
