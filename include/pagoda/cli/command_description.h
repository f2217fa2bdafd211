#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace pagoda {

/// An option of a command, or one of its arguments.
struct OptionDescription {
  std::vector<std::string> names;       ///< "-h", "--help"; of an argument, such as "RUN"
  std::string about = {};               ///< as --help has it
  std::string group = {};               ///< heading in --help
  std::string value = {};               ///< "TEXT", "INT", "UINT", "FLOAT"; empty for a flag
  std::string default_value = {};       ///< empty where there is none
  std::vector<std::string> words = {};  ///< all that it accepts, where these are words
  bool required = false;                ///< must be given
  bool repeats = false;                 ///< may be given several times
};

/// A command, with those below it, as its --help has it: what shell completion, man pages and the
/// documentation are made from.
struct CommandDescription {
  std::string name;                               ///< as it is called: "pagoda train lenet5"
  std::string about = {};                         ///< what it does
  std::vector<OptionDescription> arguments = {};  ///< those without a name, in their order
  std::vector<OptionDescription> options = {};    ///< in the order of --help
  std::vector<CommandDescription> commands = {};  ///< below it
};

/// Hidden options and commands, those in no group, are left out.
CommandDescription describe(const CLI::App& program);

/// The command and all below it, each before its own.
std::vector<const CommandDescription*> all_commands(const CommandDescription& command);

/// As a JSON object with the members' names as keys.
std::string description_json(const CommandDescription& command);

}  // namespace pagoda
