#include "flags/config_file.h"

#include <pagoda/base/error.h>
#include <pagoda/base/whole_file.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace pagoda::app {
namespace {

bool is_bare(const std::string& value) {
  if (value == "true" || value == "false") return true;
  char* end = nullptr;
  std::strtod(value.c_str(), &end);
  return !value.empty() && *end == '\0';
}

/// As TOML writes it; a list for an option that was given several times.
std::string toml_value(const std::vector<std::string>& values) {
  const auto one = [](const std::string& value) {
    return is_bare(value) ? value : '"' + value + '"';
  };
  if (values.size() == 1) return one(values.front());
  std::string list;
  for (const auto& value : values) list += (list.empty() ? "" : ", ") + one(value);
  return "[" + list + "]";
}

/// Empty for an option that has no value.
std::string value_text(const CLI::Option& option) {
  if (option.get_expected_max() == 0) return option.count() > 0 ? "true" : "false";
  if (option.count() > 0) return toml_value(option.results());
  return option.get_default_str().empty() ? "" : toml_value({option.get_default_str()});
}

}  // namespace

std::string config_text(const CLI::App& command, const std::vector<std::string>& left_out) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    if (option == command.get_help_ptr() || option->get_lnames().empty()) continue;
    const std::string name = option->get_lnames().front();
    const std::string value = value_text(*option);
    if (value.empty() || std::find(left_out.begin(), left_out.end(), name) != left_out.end())
      continue;
    text += name + " = " + value + "\n";
  }
  return text;
}

void apply_config(CLI::App& command, const std::string& toml, const std::string& source) {
  std::istringstream text(toml);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(text);
  } catch (const CLI::Error& error) {
    throw UsageError(source + ": " + error.what());
  }
  for (const auto& item : items) {
    if (!item.parents.empty()) {
      throw UsageError(source + ": the section [" + item.parents.front() +
                       "] is not possible; give all options without sections");
    }
    CLI::Option* option = command.get_option_no_throw("--" + item.name);
    if (option == nullptr)
      throw UsageError(source + ": " + item.name + " is not an option of " + command.get_name());
    if (option->count() > 0) continue;  // set before, which goes first
    const bool off =
        option->get_expected_max() == 0 && item.inputs == std::vector<std::string>{"false"};
    if (off) continue;
    try {
      option->add_result(item.inputs);
      option->run_callback();
    } catch (const CLI::Error& error) {
      throw UsageError(source + ": " + error.what());
    }
  }
}

void apply_config_file(CLI::App& command, const std::filesystem::path& file) {
  apply_config(command, read_whole_file(file), file.string());
}

std::optional<std::string> config_value(const std::string& toml, const std::string& name) {
  std::istringstream lines(toml);
  const std::string begin = name + " = ";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(begin)) continue;
    std::string value = line.substr(begin.size());
    const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
    return quoted ? value.substr(1, value.size() - 2) : value;
  }
  return std::nullopt;
}

std::string without_entry(const std::string& toml, const std::string& name) {
  std::istringstream lines(toml);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + " = ")) kept += line + "\n";
  }
  return kept;
}

}  // namespace pagoda::app
