#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace pagoda {

/// An option of a command, or one of its positional arguments.
struct OptionDescription {
  std::vector<std::string> names;       ///< "-h", "--help"; for an argument, a name such as "RUN"
  std::string about = {};               ///< as --help shows it
  std::string group = {};               ///< heading in --help
  std::string value = {};               ///< "TEXT", "INT", "UINT", "FLOAT"; empty for a flag
  std::string default_value = {};       ///< empty if there is none
  std::vector<std::string> words = {};  ///< all that it accepts, if these are words
  bool required = false;                ///< must be given
  bool repeats = false;                 ///< may be given several times
};

/// A command and its subcommands, as --help shows them: what shell completion, man pages and the
/// documentation are made from.
struct CommandDescription {
  std::string name;                               ///< as it is called: "pagoda train lenet5"
  std::string about = {};                         ///< what it does
  std::vector<OptionDescription> arguments = {};  ///< positional ones, in order
  std::vector<OptionDescription> options = {};    ///< in the order of --help
  std::vector<CommandDescription> commands = {};  ///< subcommands
};

/// Describes a program. Hidden options and commands, which are in no group, are left out.
CommandDescription describe(const CLI::App& program);

/// The command and all its subcommands, parents first.
std::vector<const CommandDescription*> all_commands(const CommandDescription& command);

/// The description as a JSON object, with the members' names as keys.
std::string description_json(const CommandDescription& command);

}  // namespace pagoda
