#include "commands/commands.h"

#include <pagoda/cli/man_page.h>
#include <pagoda/cli/shell_completion.h>

#include <gtest/gtest.h>

namespace pagoda::app {
namespace commands_test {

/// Calls `check` with the name of each command of the program and the command itself.
void for_each(const CLI::App& command, const std::string& name,
              const std::function<void(const std::string&, const CLI::App&)>& check) {
  check(name, command);
  for (const CLI::App* inner : command.get_subcommands(nullptr))
    for_each(*inner, name + " " + inner->get_name(), check);
}

class CommandsTest : public testing::Test {
 protected:
  CommandsTest() { add_commands(program_, action_); }

  Action action_;
  CLI::App program_{"about", "pagoda"};
};

TEST_F(CommandsTest, EveryCommandAndOptionExplainsItself) {
  const CommandDescription described = describe(program_);
  for (const CommandDescription* command : all_commands(described)) {
    EXPECT_NE(command->about, "") << command->name;
    for (const OptionDescription& option : command->options) {
      const std::string& about = option.about;
      EXPECT_NE(about, "") << command->name << " " << option.names.front();
      const bool says_what_happens_without =
          option.value.empty() || !option.default_value.empty() ||
          about.find("default") != std::string::npos || about.find("instead") != std::string::npos;
      EXPECT_TRUE(says_what_happens_without) << command->name << " " << option.names.front();
    }
  }
}

TEST_F(CommandsTest, ManPagesNameEveryOption) {
  const CommandDescription described = describe(program_);
  std::map<std::string, std::string> pages;
  for (const CommandDescription* command : all_commands(described))
    pages[command->name] = man_page(*command, "");
  for_each(program_, "pagoda", [&](const std::string& name, const CLI::App& command) {
    const std::string& page = pages[name];
    EXPECT_NE(page, "") << name;
    for (const CLI::Option* option : command.get_options()) {
      std::string written;
      for (const char character : option->get_single_name())
        written += character == '-' ? "\\-" : std::string(1, character);
      EXPECT_NE(page.find(written + "\\fR"), std::string::npos) << name << " " << written;
    }
  });
}

TEST_F(CommandsTest, CompletionOfEachShellNamesEveryOption) {
  const CommandDescription described = describe(program_);
  for (const Shell shell : {Shell::bash, Shell::zsh, Shell::fish}) {
    const std::string script = shell_completion(described, shell);
    for_each(program_, "pagoda", [&](const std::string& name, const CLI::App& command) {
      EXPECT_NE(script.find(name), std::string::npos) << name;
      for (const CLI::Option* option : command.get_options()) {
        for (const std::string& option_name : option->get_lnames()) {
          const std::string written = (shell == Shell::fish ? "-l " : "--") + option_name;
          EXPECT_NE(script.find(written), std::string::npos) << name << " " << written;
        }
      }
    });
  }
}

}  // namespace commands_test
}  // namespace pagoda::app
