#include <pagoda/cli/man_page.h>

#include <algorithm>
#include <cctype>

namespace pagoda {
namespace {

/// Text as roff shows it unchanged: hyphens that can be copied, no commands at the start of a line.
std::string roff(const std::string& text) {
  std::string safe;
  bool is_start = true;
  for (const char character : text) {
    if (is_start && (character == '.' || character == '\'')) safe += "\\&";
    is_start = character == '\n';
    if (character == '-') {
      safe += "\\-";
    } else if (character == '\\') {
      safe += "\\e";
    } else {
      safe += character;
    }
  }
  return safe;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string page_name(const CommandDescription& command) {
  std::string name = command.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

/// A heading of the page, or one that stands below such a heading.
std::string heading(const std::string& title) { return ".SH " + title + "\n"; }
std::string subheading(const std::string& title) { return ".SS " + roff(title) + "\n"; }

std::string synopsis(const CommandDescription& command) {
  std::string text = bold(command.name) + " [" + italic("OPTIONS") + "]";
  if (!command.commands.empty()) text += " " + italic("COMMAND") + " ...";
  for (const auto& argument : command.arguments) {
    const std::string name = italic(argument.names.front()) + (argument.repeats ? " ..." : "");
    text += argument.required ? " " + name : " [" + name + "]";
  }
  return text + "\n";
}

std::string option_entry(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + bold(name);
  std::string text = ".TP\n" + names;
  if (!option.words.empty()) {
    text += " ";
    for (const std::string& word : option.words)
      text += (text.ends_with(' ') ? "" : "|") + italic(word);
  } else if (!option.value.empty()) {
    text += " " + italic(option.value);
  }
  text += "\n" + roff(option.about);
  if (!option.default_value.empty()) text += " [" + roff(option.default_value) + "]";
  return text + "\n";
}

/// By the groups of --help, in the order in which they first come.
std::string options_text(const std::vector<OptionDescription>& options) {
  std::vector<std::string> groups;
  for (const auto& option : options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  }
  std::string text;
  for (const std::string& group : groups) {
    if (groups.size() > 1) text += subheading(group);
    for (const auto& option : options) {
      if (option.group == group) text += option_entry(option);
    }
  }
  return text;
}

std::string commands_text(const CommandDescription& command) {
  std::string text;
  for (const auto& inner : command.commands) {
    text += ".TP\n" + bold(page_name(inner)) + "(1)\n" + roff(inner.about) + "\n";
  }
  return text;
}

std::string exit_text() {
  return heading("EXIT STATUS") +
         ".TP\n0\nDone.\n.TP\n1\nFailed.\n.TP\n2\nThe command line or a configuration is wrong.\n"
         ".TP\n129, 130, 138, 143, 152\nEnded by SIGHUP, SIGINT, SIGUSR1, SIGTERM or SIGXCPU; what "
         "was "
         "reached is saved.\n";
}

}  // namespace

std::string man_file(const CommandDescription& command) { return page_name(command) + ".1"; }

std::string man_page(const CommandDescription& command, const std::string& source) {
  std::string title = page_name(command);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = ".TH " + roff(title) + " 1 \"\" \"" + roff(source) + "\"\n";
  text += heading("NAME") + roff(page_name(command)) + " \\- " + roff(command.about) + "\n";
  text += heading("SYNOPSIS") + synopsis(command);
  if (!command.commands.empty()) text += heading("COMMANDS") + commands_text(command);
  if (!command.arguments.empty()) {
    text += heading("ARGUMENTS");
    for (const auto& argument : command.arguments) text += option_entry(argument);
  }
  text += heading("OPTIONS") + options_text(command.options) + exit_text();
  const std::size_t above = command.name.rfind(' ');
  if (above == std::string::npos) return text;
  const CommandDescription outer{.name = command.name.substr(0, above)};
  return text + heading("SEE ALSO") + bold(page_name(outer)) + "(1)\n";
}

}  // namespace pagoda
