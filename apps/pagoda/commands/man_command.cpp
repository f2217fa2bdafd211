#include <pagoda/base/atomic_file.h>
#include <pagoda/base/error.h>
#include <pagoda/base/version.h>
#include <pagoda/cli/man_page.h>
#include <pagoda/cli/shell_completion.h>

#include <cstdio>
#include <filesystem>

#include "commands/commands.h"

namespace pagoda::app {
namespace {

struct ManFlags {
  std::vector<std::string> command;
  std::string share;
  bool json = false;
};

std::string source_text() { return std::string("Pagoda ") + version(); }

/// The command that the words name, below the program.
const CommandDescription& find_command(const CommandDescription& program,
                                       const std::vector<std::string>& words) {
  std::string name = program.name;
  for (const std::string& word : words) name += " " + word;
  for (const CommandDescription* command : all_commands(program)) {
    if (command->name == name) return *command;
  }
  throw UsageError("there is no command '" + name + "'; see " + program.name + " --help");
}

void write_below(const std::filesystem::path& directory, const std::string& name,
                 const std::string& text) {
  const std::filesystem::path file = directory / name;
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  if (failed) throw IoError("cannot make " + file.parent_path().string() + ": " + failed.message());
  write_whole_file(file, text);
}

/// Where man and the shells look for them below /usr/share.
void write_share(const CommandDescription& program, const std::filesystem::path& share) {
  for (const CommandDescription* command : all_commands(program))
    write_below(share, "man/man1/" + man_file(*command), man_page(*command, source_text()));
  const std::string& name = program.name;
  write_below(share, "bash-completion/completions/" + name, shell_completion(program, Shell::bash));
  write_below(share, "zsh/site-functions/_" + name, shell_completion(program, Shell::zsh));
  write_below(share, "fish/vendor_completions.d/" + name + ".fish",
              shell_completion(program, Shell::fish));
}

int run_man(const CLI::App& app, const ManFlags& flags) {
  const CommandDescription program = describe(app);
  if (!flags.share.empty()) {
    write_share(program, flags.share);
  } else if (flags.json) {
    std::puts(description_json(program).c_str());
  } else {
    std::fputs(man_page(find_command(program, flags.command), source_text()).c_str(), stdout);
  }
  return 0;
}

}  // namespace

void add_man_command(CLI::App& program, Action& action) {
  auto flags = std::make_shared<ManFlags>();
  CLI::App* command = program.add_subcommand(
      "man", "Print the manual page of a command: pagoda man train lenet5 | man -l -");
  command->add_option("COMMAND", flags->command,
                      "such as: train lenet5 (default: the program itself)");
  CLI::Option* share =
      command->add_option("--share", flags->share,
                          "write all pages, and the completion of all shells, below this directory "
                          "as /usr/share has them, instead");
  command
      ->add_flag("--json", flags->json,
                 "print all commands and options as a JSON object, for other programs, instead")
      ->excludes(share);
  command->callback([flags, &program, &action] {
    action = [flags, &program] { return run_man(program, *flags); };
  });
}

}  // namespace pagoda::app
