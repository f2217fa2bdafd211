#include <pagoda/base/error.h>
#include <pagoda/base/error_text.h>
#include <pagoda/device/cpu_cores.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "commands/commands.h"
#include "terminal/standard_descriptors.h"

namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

int report(const std::string& what, int code) {
  std::fprintf(stderr, "pagoda: %s\n", what.c_str());
  return code;
}

/// What is wrong with the command line, and where the command's own help is.
std::string complaint(const CLI::App* program, const CLI::Error& error) {
  std::string command = program->get_name();
  for (const CLI::App* app = program; !app->get_subcommands().empty();) {
    app = app->get_subcommands().front();
    command += " " + app->get_name();
  }
  // CLI11 misses the subcommand before it complains about a misspelt one.
  const auto unknown = program->remaining(/*recurse=*/true);
  const std::string what =
      unknown.empty() ? error.what() : "unknown argument '" + unknown.front() + "'";
  return "pagoda: " + what + "; see " + command + " --help\n";
}

/// What the command line asks for. Fails: as the command does; CLI::ParseError.
int run_command(int argc, char** argv, CLI::App& program) {
  pagoda::free_of_openmp_places();
  pagoda::app::Run run;
  pagoda::app::add_devices_command(program, run);
  pagoda::app::add_data_command(program, run);
  pagoda::app::add_train_command(program, run);
  pagoda::app::add_eval_command(program, run);
  pagoda::app::add_translate_command(program, run);
  pagoda::app::add_chat_command(program, run);
  pagoda::app::add_export_command(program, run);
  pagoda::app::add_average_command(program, run);
  pagoda::app::add_bench_command(program, run);
  pagoda::app::add_verify_command(program, run);
  pagoda::app::add_demo_command(program, run);
  program.parse(argc, argv);
  return run();
}

/// One line for every kind of failure, and its exit code.
int guarded(int argc, char** argv) {
  CLI::App program(
      "Pagoda trains one model, written for one device, on every device of the machine.", "pagoda");
  program.require_subcommand(1);
  program.get_formatter()->column_width(34);
  program.failure_message(complaint);
  try {
    const int code = run_command(argc, argv, program);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    return report(std::string("cannot write the result to stdout: ") + std::strerror(errno),
                  kFailed);
  } catch (const CLI::ParseError& error) {
    const int code = program.exit(error);
    return code == 0 ? 0 : kUsage;
  } catch (const pagoda::UsageError& error) {
    return report(error.what(), kUsage);
  } catch (...) {
    return report(pagoda::error_text(std::current_exception()), kFailed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  pagoda::app::occupy_standard_descriptors();
  setenv("KINETO_LOG_LEVEL", "99", /*overwrite=*/0);  // its notes are no part of our log
  // CLI11 reads an empty number as 0; it is what a shell makes of an unset variable.
  if (std::any_of(argv, argv + argc, [](const char* argument) { return *argument == '\0'; })) {
    return report("an argument is empty; leave the option out or give it a value", kUsage);
  }
  return guarded(argc, argv);
}
