#include <pagoda/base/error.h>
#include <pagoda/program/program_summary.h>
#include <pagoda/terminal/text_table.h>

#include <cstdio>
#include <filesystem>

#include "commands/commands.h"
#include "run/program_report.h"
#include "run/stored_run.h"
#include "run/tensor_report.h"

namespace pagoda::app {
namespace {

/// The steps of a run's checkpoints and what the newest holds.
std::string run_report(const std::string& directory) {
  const CheckpointStore store = open_checkpoints(directory);
  const auto report = [](const std::string& line) {
    std::fprintf(stderr, "pagoda: %s\n", line.c_str());
  };
  const auto newest = store.load_newest(report);
  if (!newest) throw DataError(directory + " has no checkpoint yet");
  std::string text =
      directory + ": " + counted(std::ssize(store.files()), "checkpoint") + ", newest";
  return text + " after " + checkpoint_report(*newest);
}

/// What a file or directory holds, by its kind.
std::string report_of(const std::string& name) {
  const std::filesystem::path path(name);
  if (std::error_code none; std::filesystem::is_directory(path, none)) return run_report(name);
  if (path.extension() == ".pt2") return name + ": " + program_report(describe_program(path));
  if (path.extension() != ".safetensors") {
    if (const auto checkpoint = find_checkpoint(path))
      return name + ": checkpoint after " + checkpoint_report(*checkpoint);
  }
  return name + ": " + weights_report(read_weights(path));
}

}  // namespace

void add_show_command(CLI::App& program, Action& action) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = program.add_subcommand(
      "show", "Say what a run, a checkpoint, a file of weights or an exported program holds");
  command
      ->add_option(
          "FILE", *name,
          "directory of a run, checkpoint, exported program (.pt2), or weights: .safetensors "
          "or as torch.save writes them")
      ->required();
  command->callback([name, &action] {
    action = [name] {
      std::fputs(report_of(*name).c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace pagoda::app
