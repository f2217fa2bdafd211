#include <pagoda/base/error.h>
#include <pagoda/train/run_config.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

namespace pagoda {
namespace {

constexpr const char* kEquals = " = ";

std::optional<double> number_in(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> number_of(const TomlValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

/// As it was written without escapes, by how it looks.
std::string unescaped_text(const TomlValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    const bool bare = *text == "true" || *text == "false" || number_in(*text);
    return bare ? *text : '"' + *text + '"';
  }
  const auto* values = std::get_if<std::vector<TomlValue>>(&value);
  if (values == nullptr) return toml_text(value);
  std::string list;
  for (const TomlValue& each : *values) list += (list.empty() ? "" : ", ") + unescaped_text(each);
  return "[" + list + "]";
}

/// One line of a configuration that is no TOML as a whole.
TomlEntry entry_in_line(const std::string& line, std::size_t number, const std::string& source) {
  try {
    if (TomlFile file = parse_toml(line, source); file.entries.size() == 1) {
      file.entries.front().line = number;
      return std::move(file.entries.front());
    }
  } catch (const DataError&) {
    // Neither is the line.
  }
  const auto at = line.find(kEquals);
  if (at == std::string::npos)
    throw DataError(source + ":" + std::to_string(number) + ": '" + line +
                    "' is not a name, an equals sign and a value");
  std::string text = line.substr(at + std::string_view(kEquals).size());
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  const auto value = quoted            ? TomlValue(text.substr(1, text.size() - 2))
                     : number_in(text) ? TomlValue(*number_in(text))
                                       : TomlValue(text);
  return {.name = line.substr(0, at), .value = value, .text = text, .line = number, .column = 1};
}

bool is_same(const TomlEntry& before, const TomlValue& now) {
  const auto old_number = number_of(before.value);
  const auto new_number = number_of(now);
  if (old_number && new_number) return *old_number == *new_number;
  if (before.value == now) return true;
  const bool both_text = before.value.index() == now.index() && std::get_if<std::string>(&now);
  return !both_text && before.text == unescaped_text(now);
}

std::map<std::string, TomlEntry> by_name(const std::string& config, const char* source) {
  std::map<std::string, TomlEntry> entries;
  for (TomlEntry& entry : run_config_entries(config, source)) {
    const std::string name = entry.name;
    entries.insert_or_assign(name, std::move(entry));
  }
  return entries;
}

}  // namespace

std::vector<TomlEntry> run_config_entries(const std::string& config, const std::string& source) {
  try {
    return parse_toml(config, source).entries;
  } catch (const DataError&) {
    if (config.size() > kMostTomlBytes) throw;
  }
  std::vector<TomlEntry> entries;
  std::istringstream lines(config);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.front() != '#')
      entries.push_back(entry_in_line(line, number, source));
  }
  return entries;
}

std::string config_differences(const std::string& before, const std::string& now,
                               const ConfigRules& rules) {
  auto old_entries = by_name(before, "the configuration before");
  auto new_entries = by_name(now, "the configuration now");
  for (auto& [name, entry] : by_name(rules.defaults, "the defaults")) {
    old_entries.try_emplace(name, entry);
    new_entries.try_emplace(name, entry);
  }
  for (const auto& name : rules.changeable) {
    old_entries.erase(name);
    new_entries.erase(name);
  }
  std::string list;
  const auto add = [&](const std::string& line) { list += (list.empty() ? "" : "; ") + line; };
  for (const auto& [name, entry] : old_entries) {
    const auto found = new_entries.find(name);
    if (found == new_entries.end()) {
      add(name + ": " + entry.text + ", now unset");
    } else if (!is_same(entry, found->second.value)) {
      add(name + ": " + entry.text + ", now " + found->second.text);
    }
  }
  for (const auto& [name, entry] : new_entries) {
    if (!old_entries.contains(name)) add(name + ": unset, now " + entry.text);
  }
  return list;
}

}  // namespace pagoda
