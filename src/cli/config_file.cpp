#include <pagoda/base/error.h>
#include <pagoda/base/toml.h>
#include <pagoda/base/whole_file.h>
#include <pagoda/cli/config_file.h>
#include <pagoda/train/run_config.h>

#include <algorithm>
#include <map>

#include "cli/option_values.h"

namespace pagoda {
namespace {

/// Options that a text has set, and where.
using Places = std::map<const CLI::Option*, std::string>;

bool is_excluded(const CLI::Option& option) {
  const auto others = option.get_excludes();
  return std::any_of(others.begin(), others.end(),
                     [](const CLI::Option* other) { return other->count() > 0; });
}

/// Entries of a text without sections.
std::vector<TomlEntry> entries_of(const std::string& toml, const std::string& source) {
  try {
    TomlFile file = parse_toml(toml, source);
    if (file.sections.empty()) return std::move(file.entries);
    const TomlSection& section = file.sections.front();
    throw UsageError(source + ":" + std::to_string(section.line) + ":" +
                     std::to_string(section.column) + ": the section [" + section.name +
                     "] is not possible; give all options without sections");
  } catch (const DataError& error) {
    throw UsageError(error.what());
  }
}

/// The configuration that a run keeps names its model, which is the command here.
void take_model(const CLI::App& command, std::vector<TomlEntry>& entries,
                const std::string& source) {
  if (command.get_option_no_throw("--model") != nullptr) return;
  std::erase_if(entries, [&](const TomlEntry& entry) {
    if (entry.name != "model") return false;
    const auto* model = std::get_if<std::string>(&entry.value);
    if (model != nullptr && *model == command.get_name()) return true;
    throw UsageError(toml_place(source, entry) + ": this is a configuration of the model " +
                     entry.text + ", not of " + command.get_name());
  });
}

CLI::Option& option_of(CLI::App& command, const TomlEntry& entry) {
  CLI::Option* option = command.get_option_no_throw("--" + entry.name);
  if (option == nullptr || option == command.get_help_ptr())
    throw UsageError(entry.name + " is not an option of " + command.get_name());
  if (entry.name == "config")
    throw UsageError("config is for the command line; a file cannot name another");
  return *option;
}

void set_option(CLI::Option& option, const std::vector<std::string>& words) {
  // CLI11 would take a word in brackets apart, as it does on the command line.
  const bool takes_more = option.get_allow_extra_args();
  option.allow_extra_args(false);
  for (const auto& word : words) option.add_result(word);
  option.allow_extra_args(takes_more);
  option.run_callback();
}

enum class Precedence { given, below };

/// Sets what is unset yet, entry by entry. Gives where each of the options stands.
Places apply_entries(CLI::App& command, const std::vector<TomlEntry>& entries,
                     const std::string& source, Precedence precedence, TypeCheck check) {
  Places places;
  std::map<const CLI::Option*, const TomlEntry*> seen;
  for (const TomlEntry& entry : entries) {
    try {
      CLI::Option& option = option_of(command, entry);
      const auto [first, is_new] = seen.emplace(&option, &entry);
      if (!is_new)
        throw UsageError(entry.name + " is " + first->second->name + ", which stands in line " +
                         std::to_string(first->second->line));
      const auto words = option_words(option, entry, check);
      if (option.count() > 0 || (precedence == Precedence::below && is_excluded(option))) continue;
      set_option(option, words);
      places[&option] = toml_place(source, entry);
    } catch (const UsageError& error) {
      throw UsageError(toml_place(source, entry) + ": " + error.what());
    } catch (const CLI::Error& error) {
      throw UsageError(toml_place(source, entry) + ": " + error.what());
    }
  }
  return places;
}

/// What CLI11 checks of a command line, after a text has added to it.
void check_together(const CLI::App& command, const Places& places) {
  const auto where = [&](const CLI::Option& option) {
    const auto place = places.find(&option);
    return place == places.end() ? "the command line" : place->second;
  };
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name();
    for (const CLI::Option* other : option->get_excludes()) {
      if (other->count() > 0)
        throw UsageError(name + " excludes " + other->get_name() + " (" + name + " is from " +
                         where(*option) + ", " + other->get_name() + " from " + where(*other) +
                         ")");
    }
    for (const CLI::Option* other : option->get_needs()) {
      if (other->count() == 0)
        throw UsageError(name + " requires " + other->get_name() + " (" + name + " is from " +
                         where(*option) + ")");
    }
  }
}

enum class Excluded { written, left_out };

using ValueOf = std::optional<TomlValue> (*)(const CLI::Option&);

std::string text_of(const CLI::App& command, const std::vector<std::string>& left_out,
                    Excluded excluded, ValueOf value_of) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    if (option == command.get_help_ptr() || option->get_lnames().empty()) continue;
    const std::string name = option->get_lnames().front();
    if (std::find(left_out.begin(), left_out.end(), name) != left_out.end()) continue;
    if (excluded == Excluded::left_out && option->count() == 0 && is_excluded(*option)) continue;
    if (const auto value = value_of(*option)) text += name + " = " + toml_text(*value) + "\n";
  }
  return text;
}

}  // namespace

std::string config_text(const CLI::App& command, const std::vector<std::string>& left_out) {
  return text_of(command, left_out, Excluded::written, option_value);
}

std::string config_file_text(const CLI::App& command, const std::vector<std::string>& left_out) {
  return text_of(command, left_out, Excluded::left_out, option_value);
}

std::string config_defaults(const CLI::App& command, const std::vector<std::string>& left_out) {
  return text_of(command, left_out, Excluded::written, option_default);
}

void apply_config(CLI::App& command, const std::string& toml, const std::string& source) {
  auto entries = entries_of(toml, source);
  take_model(command, entries, source);
  const Places places =
      apply_entries(command, entries, source, Precedence::given, TypeCheck::strict);
  check_together(command, places);
}

void apply_config_file(CLI::App& command, const std::filesystem::path& file) {
  apply_config(command, read_file_start(file, kMostTomlBytes + 1), file.string());
}

void apply_below(CLI::App& command, const std::string& toml, const std::string& source) {
  apply_entries(command, entries_of(toml, source), source, Precedence::below, TypeCheck::strict);
}

void apply_run_config(CLI::App& command, const std::string& config) {
  const std::string source = "the configuration of the run";
  auto entries = run_config_entries(config, source);
  std::erase_if(entries, [](const TomlEntry& entry) { return entry.name == "model"; });
  apply_entries(command, entries, source, Precedence::given, TypeCheck::by_looks);
}

std::optional<std::string> config_value(const std::string& config, const std::string& name) {
  for (const TomlEntry& entry : run_config_entries(config, "the configuration of the run")) {
    if (entry.name != name) continue;
    const auto* text = std::get_if<std::string>(&entry.value);
    return text != nullptr ? *text : entry.text;
  }
  return std::nullopt;
}

}  // namespace pagoda
