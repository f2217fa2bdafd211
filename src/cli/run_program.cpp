#include <pagoda/base/error.h>
#include <pagoda/base/error_text.h>
#include <pagoda/base/version.h>
#include <pagoda/cli/run_program.h>
#include <pagoda/device/cpu_cores.h>
#include <pagoda/terminal/screen.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "base/failing_writes.h"
#include "cli/did_you_mean.h"
#include "cli/help_format.h"
#include "cli/standard_descriptors.h"

namespace pagoda {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

/// What could have been meant in place of an argument that nobody knows, for the end of a complaint.
std::string alternatives(const CLI::App& command, const std::string& unknown) {
  std::vector<std::string> candidates;
  std::string list;
  if (unknown.starts_with("-")) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) candidates.push_back("--" + name);
    }
  } else {
    for (const CLI::App* inner : command.get_subcommands(nullptr)) {
      candidates.push_back(inner->get_name());
      list += (list.empty() ? " (there are " : ", ") + inner->get_name();
    }
    if (!list.empty()) list += ")";
  }
  const std::string nearest = nearest_word(unknown.substr(0, unknown.find('=')), candidates);
  return nearest.empty() ? list : "; did you mean " + nearest + "?";
}

/// What a complaint begins with: who complains, in red where stderr shows it.
std::string complaint_name(const std::string& program) {
  return emphasised(program + ":", Emphasis::red, has_colours(STDERR_FILENO)) + " ";
}

/// What is wrong with the command line, and where the command's own help is.
std::string complaint(const CLI::App* program, const CLI::Error& error) {
  std::string names = program->get_name();
  const CLI::App* command = program;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    names += " " + command->get_name();
  }
  // CLI11 misses the subcommand before it complains about a misspelt one.
  const auto unknown = program->remaining(/*recurse=*/true);
  const std::string what = unknown.empty() ? error.what()
                                           : "unknown argument '" + unknown.front() + "'" +
                                                 alternatives(*command, unknown.front());
  return complaint_name(program->get_name()) + what + (what.ends_with('?') ? " See " : "; see ") +
         names + " --help\n";
}

/// "pagoda help train" as "pagoda train --help".
std::vector<const char*> without_help_command(const CLI::App& program, int argc, char** argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  const bool has_commands = !program.get_subcommands(nullptr).empty();
  if (argc < 2 || std::string_view(argv[1]) != "help" || !has_commands) return arguments;
  arguments.erase(arguments.begin() + 1);
  arguments.push_back("--help");
  return arguments;
}

}  // namespace

int guarded_main(const std::string& program, const std::function<int()>& work) {
  const auto report = [&](const std::string& what, int code) {
    std::fprintf(stderr, "%s%s\n", complaint_name(program).c_str(), what.c_str());
    return code;
  };
  try {
    occupy_standard_descriptors();
    ignore_file_size_limit();
    setenv("KINETO_LOG_LEVEL", "99", /*overwrite=*/0);  // its notes are no part of our log
    const int code = work();
    const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (is_written || code != 0) return code;
    return report(std::string("cannot write the result to stdout: ") + std::strerror(errno),
                  kFailed);
  } catch (const UsageError& error) {
    return report(error.what(), kUsage);
  } catch (...) {
    return report(error_text(std::current_exception()), kFailed);
  }
}

int parse_and_run(CLI::App& program, int argc, char** argv, const std::function<int()>& run) {
  // CLI11 reads an empty number as 0; it is what a shell makes of an unset variable.
  if (std::any_of(argv, argv + argc, [](const char* argument) { return *argument == '\0'; }))
    throw UsageError("an argument is empty; leave the option out or give it a value");
  format_help(program, help_columns(), has_colours(STDOUT_FILENO));
  program.failure_message(complaint);
  if (program.get_option_no_throw("--version") == nullptr)
    program.set_version_flag("--version", version_text, "print the version and exit");
  const auto arguments = without_help_command(program, argc, argv);
  try {
    program.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : kUsage;
  }
  return run();
}

RunProgram::RunProgram(ProgramInfo info)
    : app_(info.about, info.name), command_(app_, [&] {
        RunOptions defaults = info.defaults;
        defaults.name = info.name;
        return defaults;
      }()) {}

int RunProgram::main(int argc, char** argv, const Train& train) {
  return guarded_main(app_.get_name(), [&] {
    free_of_openmp_places();
    return parse_and_run(app_, argc, argv, [&] { return command_.run(train); });
  });
}

int run_program(int argc, char** argv, ProgramInfo info, const RunProgram::Train& train) {
  return RunProgram(std::move(info)).main(argc, argv, train);
}

}  // namespace pagoda
