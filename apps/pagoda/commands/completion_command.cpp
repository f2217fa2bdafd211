#include <pagoda/cli/shell_completion.h>

#include <cstdio>

#include "commands/commands.h"

namespace pagoda::app {

void add_completion_command(CLI::App& program, Action& action) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = program.add_subcommand(
      "completion", "Print a script that lets a shell complete commands and options");
  command
      ->add_option("SHELL", *shell, "bash: source <(pagoda completion bash); zsh and fish likewise")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh", "fish"}));
  command->callback([shell, &program, &action] {
    action = [shell, &program] {
      const Shell kind = *shell == "bash"  ? Shell::bash
                         : *shell == "zsh" ? Shell::zsh
                                           : Shell::fish;
      std::fputs(shell_completion(describe(program), kind).c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace pagoda::app
