#include <pagoda/base/json.h>
#include <pagoda/cli/command_description.h>

namespace pagoda {
namespace {

/// CLI11 writes what an option is checked for behind its type: "TEXT:{adam,sgd}".
std::vector<std::string> words_of(const std::string& type) {
  const std::size_t open = type.find(":{");
  const std::size_t close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  std::vector<std::string> words(1);
  for (const char character : type.substr(open + 2, close - open - 2)) {
    if (character == ',') {
      words.emplace_back();
    } else {
      words.back() += character;
    }
  }
  return words;
}

/// What of an option is described: some can be given either way.
enum class Form { argument, option };

OptionDescription describe(const CLI::Option& option, Form form) {
  OptionDescription found{.names = {},
                          .about = option.get_description(),
                          .group = option.get_group(),
                          .required = option.get_required(),
                          .repeats = option.get_items_expected_max() > 1};
  if (form == Form::argument) {
    found.names.push_back(option.get_name(/*positional=*/true));
  } else {
    for (const std::string& name : option.get_snames()) found.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) found.names.push_back("--" + name);
  }
  if (option.get_expected_max() == 0) return found;
  const std::string type = option.get_type_name();
  found.value = type.substr(0, type.find(':'));
  found.default_value = option.get_default_str();
  found.words = words_of(type);
  return found;
}

CommandDescription describe(const CLI::App& command, const std::string& name) {
  CommandDescription found{.name = name, .about = command.get_description()};
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) found.arguments.push_back(describe(*option, Form::argument));
    if (option->nonpositional()) found.options.push_back(describe(*option, Form::option));
  }
  for (const CLI::App* inner : command.get_subcommands(nullptr)) {
    if (!inner->get_group().empty())
      found.commands.push_back(describe(*inner, name + " " + inner->get_name()));
  }
  return found;
}

void write_option(JsonWriter& json, const OptionDescription& option) {
  json.begin_object().key("names").values(option.names);
  json.key("about").value(option.about).key("group").value(option.group);
  json.key("value").value(option.value).key("default_value").value(option.default_value);
  json.key("words").values(option.words).key("required").value(option.required);
  json.key("repeats").value(option.repeats).end_object();
}

void write_command(JsonWriter& json, const CommandDescription& command) {
  json.begin_object().key("name").value(command.name).key("about").value(command.about);
  json.key("arguments").begin_array();
  for (const auto& argument : command.arguments) write_option(json, argument);
  json.end_array().key("options").begin_array();
  for (const auto& option : command.options) write_option(json, option);
  json.end_array().key("commands").begin_array();
  for (const auto& inner : command.commands) write_command(json, inner);
  json.end_array().end_object();
}

void append_commands(const CommandDescription& command,
                     std::vector<const CommandDescription*>& all) {
  all.push_back(&command);
  for (const auto& inner : command.commands) append_commands(inner, all);
}

}  // namespace

CommandDescription describe(const CLI::App& program) {
  return describe(program, program.get_name());
}

std::vector<const CommandDescription*> all_commands(const CommandDescription& command) {
  std::vector<const CommandDescription*> all;
  append_commands(command, all);
  return all;
}

std::string description_json(const CommandDescription& command) {
  JsonWriter json;
  write_command(json, command);
  return json.text();
}

}  // namespace pagoda
