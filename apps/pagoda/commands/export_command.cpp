#include <pagoda/checkpoint/state_dict.h>
#include <pagoda/cli/flag_adder.h>

#include <cstdio>

#include "commands/commands.h"
#include "run/int8_tensors.h"
#include "run/stored_run.h"

namespace pagoda::app {
namespace {

struct ExportFlags {
  StoredRunFlags run;
  std::string out;
  bool int8 = false;
};

int export_weights(const ExportFlags& flags) {
  const StoredRun run = open_run(flags.run);
  const auto weights = flags.int8 ? int8_tensors(run.weights) : run.weights;
  save_state_dict(weights, flags.out);
  std::printf("%s: %s%s, %zu tensors\n", flags.out.c_str(), run.weights_text().c_str(),
              flags.int8 ? " in 8 bits" : "", weights.size());
  return 0;
}

}  // namespace

void add_export_command(CLI::App& program, Action& action) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = program.add_subcommand(
      "export", "Write a run's weights as a state dict for LibTorch and Python");
  add_stored_run_flags(*command, flags->run);
  command->add_option("OUT", flags->out, "file to write, such as model.pt or model.safetensors")
      ->required();
  FlagAdder(*command).flag(
      "--int8", flags->int8,
      "matrices in 8 bits: NAME.int8 and NAME.scale, a factor for each row, in place of NAME");
  command->callback([flags, &action] { action = [flags] { return export_weights(*flags); }; });
}

}  // namespace pagoda::app
