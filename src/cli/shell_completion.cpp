#include <pagoda/cli/shell_completion.h>

#include <cctype>

#include "cli/command_line.h"

namespace pagoda {
namespace {

std::string joined_words(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

/// fish has no other way to write a quote inside of quotes.
std::string fish_quoted(const std::string& text) {
  std::string safe = "'";
  for (const char character : text)
    safe += character == '\'' || character == '\\' ? std::string{'\\', character}
                                                   : std::string(1, character);
  return safe + "'";
}

/// Of a shell's function for the program.
std::string function_name(const std::string& program) {
  std::string name = "_";
  for (const char character : program)
    name += std::isalnum(static_cast<unsigned char>(character)) != 0 ? character : '_';
  return name;
}

std::string last_word(const CommandDescription& command) {
  return command.name.substr(command.name.rfind(' ') + 1);
}

/// The words that its arguments can be, where these are words.
std::vector<std::string> argument_words(const CommandDescription& command) {
  std::vector<std::string> words;
  for (const auto& argument : command.arguments)
    words.insert(words.end(), argument.words.begin(), argument.words.end());
  return words;
}

/// What can follow the command besides options: the commands below it, or words.
std::vector<std::string> next_words(const CommandDescription& command) {
  std::vector<std::string> words = argument_words(command);
  for (const auto& inner : command.commands) words.push_back(last_word(inner));
  return words;
}

/// The names of all commands below the program, each in quotes.
std::vector<std::string> inner_names(const CommandDescription& program,
                                     std::string (*quote)(const std::string&)) {
  std::vector<std::string> names;
  for (const CommandDescription* command : all_commands(program)) {
    if (command != &program) names.push_back(quote(command->name));
  }
  if (names.empty()) names.push_back(quote(" "));  // no word goes on like this
  return names;
}

bool takes_number(const OptionDescription& option) {
  return option.value == "INT" || option.value == "UINT" || option.value == "FLOAT";
}

/// The lines of bash's `case` over the word before, for the options that take a value.
std::string bash_values(const CommandDescription& command) {
  std::string text;
  for (const auto& option : command.options) {
    if (option.value.empty()) continue;
    text += "        " + joined_words(option.names, "|") + ") ";
    if (!option.words.empty()) {
      text += "kind=words; words=" + shell_quoted(joined_words(option.words, " "));
    } else {
      text += takes_number(option) ? "kind=number" : "kind=file";
    }
    text += " ;;\n";
  }
  return text;
}

std::string bash_command(const CommandDescription& command) {
  std::vector<std::string> options;
  for (const auto& option : command.options)
    options.insert(options.end(), option.names.begin(), option.names.end());
  std::string text = "    " + shell_quoted(command.name) + ")\n";
  text += "      options=" + shell_quoted(joined_words(options, " ")) + "\n";
  text += "      commands=" + shell_quoted(joined_words(next_words(command), " ")) + "\n";
  const std::string values = bash_values(command);
  if (!values.empty()) text += "      case $before in\n" + values + "      esac\n";
  return text + "      ;;\n";
}

std::string bash_script(const CommandDescription& program) {
  const std::string function = function_name(program.name);
  std::string text = "# bash completion for " + program.name + "\n" + function + R"(() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command=)" + shell_quoted(program.name) +
                     R"( options= commands= kind= words= i
  # bash takes the = of --option=word for a word of its own.
  if [[ $current == = ]]; then
    current=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
      )" + joined_words(inner_names(program, shell_quoted), " | ") +
                     R"() command="$command ${COMP_WORDS[i]}" ;;
    esac
  done
  case $command in
)";
  for (const CommandDescription* command : all_commands(program)) text += bash_command(*command);
  return text + R"(  esac
  COMPREPLY=()
  case $kind in
    words) COMPREPLY=($(compgen -W "$words" -- "$current")); return ;;
    number) compopt +o default 2>/dev/null; return ;;
    file) return ;;
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$current"))
  fi
}
complete -o default -F )" +
         function + " " + program.name + "\n";
}

/// What stands in the brackets of a specification of zsh's _arguments.
std::string zsh_escaped(const std::string& text) {
  std::string safe;
  for (const char character : text) {
    if (character == '[' || character == ']' || character == ':' || character == '\\') safe += '\\';
    safe += character;
  }
  return safe;
}

std::string zsh_option(const OptionDescription& option) {
  std::string text;
  for (const std::string& name : option.names) {
    std::string specification = (option.repeats ? "*" : "") + name;
    if (!option.value.empty()) specification += name.starts_with("--") ? "=" : "+";
    specification += "[" + zsh_escaped(option.about) + "]";
    if (!option.words.empty()) {
      specification += ":word:(" + joined_words(option.words, " ") + ")";
    } else if (!option.value.empty()) {
      specification += takes_number(option) ? ":number: " : ":text:_files";
    }
    text += " \\\n        " + shell_quoted(specification);
  }
  return text;
}

std::string zsh_command(const CommandDescription& command) {
  std::string text = "    " + shell_quoted(command.name) + ")\n";
  if (!command.commands.empty()) {
    text += "      commands=(";
    for (const auto& inner : command.commands) {
      text += "\n        " + shell_quoted(last_word(inner) + ":" + zsh_escaped(inner.about));
    }
    text +=
        "\n      )\n      if ((CURRENT == 2)) && [[ ${words[2]} != -* ]]; then\n"
        "        _describe command commands\n        return\n      fi\n";
  }
  text += "      _arguments";
  for (const auto& option : command.options) text += zsh_option(option);
  const auto words = argument_words(command);
  if (!words.empty()) {
    text += " \\\n        " + shell_quoted("*:word:(" + joined_words(words, " ") + ")");
  } else if (!command.arguments.empty()) {
    text += " \\\n        '*:file:_files'";
  }
  return text + "\n      ;;\n";
}

std::string zsh_script(const CommandDescription& program) {
  const std::string function = function_name(program.name);
  std::string text = "#compdef " + program.name + "\n" + function + R"(() {
  local command=)" + shell_quoted(program.name) +
                     R"(
  local -a commands
  while ((CURRENT > 2)); do
    case "$command ${words[2]}" in
      )" + joined_words(inner_names(program, shell_quoted), " | ") +
                     R"()
        command="$command ${words[2]}"
        shift words
        ((CURRENT--))
        ;;
      *) break ;;
    esac
  done
  case $command in
)";
  for (const CommandDescription* command : all_commands(program)) text += zsh_command(*command);
  // The file is read as the function's body when zsh finds it, or sourced by hand.
  return text + "  esac\n}\nif [[ ${funcstack[1]} == " + function + " ]]; then\n  " + function +
         " \"$@\"\nelse\n  compdef " + function + " " + program.name + "\nfi\n";
}

std::string fish_option(const OptionDescription& option) {
  std::string text;
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    text += (is_long ? " -l " : " -s ") + name.substr(is_long ? 2 : 1);
  }
  if (!option.words.empty()) {
    text += " -x -a " + fish_quoted(joined_words(option.words, " "));
  } else if (!option.value.empty()) {
    text += takes_number(option) ? " -x" : " -r";
  }
  return text + " -d " + fish_quoted(option.about);
}

std::string fish_script(const CommandDescription& program) {
  const std::string function = "_" + function_name(program.name) + "_is";
  std::string text = "# fish completion for " + program.name + "\nfunction " + function + R"(
  set -l command )" + fish_quoted(program.name) +
                     R"(
  for word in (commandline -opc)[2..-1]
    switch "$command $word"
      case )" + joined_words(inner_names(program, fish_quoted), " ") +
                     R"(
        set command "$command $word"
    end
  end
  test "$command" = "$argv"
end
)";
  for (const CommandDescription* command : all_commands(program)) {
    const std::string start =
        "complete -c " + program.name + " -n " + fish_quoted(function + " " + command->name);
    for (const auto& inner : command->commands) {
      text += start + " -f -a " + fish_quoted(last_word(inner)) + " -d " +
              fish_quoted(inner.about) + "\n";
    }
    const auto words = argument_words(*command);
    if (!words.empty()) {
      text += start + " -f -a " + fish_quoted(joined_words(words, " ")) + "\n";
    } else if (command->commands.empty() && command->arguments.empty()) {
      text += start + " -f\n";
    }
    for (const auto& option : command->options) text += start + fish_option(option) + "\n";
  }
  return text;
}

}  // namespace

std::string shell_completion(const CommandDescription& program, Shell shell) {
  switch (shell) {
    case Shell::bash:
      return bash_script(program);
    case Shell::zsh:
      return zsh_script(program);
    case Shell::fish:
      return fish_script(program);
  }
  return {};
}

}  // namespace pagoda
