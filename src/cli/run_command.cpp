#include <pagoda/cli/config_file.h>
#include <pagoda/cli/flag_adder.h>
#include <pagoda/cli/run_command.h>
#include <pagoda/cli/run_flags.h>
#include <pagoda/run/process_failure.h>

#include <cstdio>

#include "base/failing_writes.h"
#include "cli/command_line.h"

namespace pagoda {

struct RunCommand::State {
  CLI::App& command;
  RunOptions options;
  std::span<const Preset> presets;
  std::string config = {};
  std::string preset = {};
  bool dump_config = false;
  bool json = false;
  bool is_resolved = false;
};

RunCommand::RunCommand(CLI::App& command, RunOptions defaults, std::span<const Preset> presets)
    : state_(std::make_unique<State>(State{command, std::move(defaults), presets})) {
  add_run_flags(command, state_->options);
  FlagAdder add(command, "Output");
  add.flag("--json", state_->json, "print the summary on stdout as a JSON object");
  add.option("--config", state_->config,
             "TOML file with options (default: none); the command line overrides it");
  add.flag("--dump-config", state_->dump_config, "print all options as TOML and do nothing else");
  if (presets.empty()) return;
  add.group("Model");
  add.option("--preset", state_->preset,
             "options that go well together (default: none); " + preset_list(presets));
}

RunCommand::~RunCommand() = default;

RunOptions& RunCommand::options() { return state_->options; }

void RunCommand::resolve() {
  if (state_->is_resolved) return;
  state_->is_resolved = true;
  if (!state_->config.empty()) apply_config_file(state_->command, state_->config);
  if (!state_->preset.empty())
    fill(find_preset(state_->presets, state_->preset).toml, "preset " + state_->preset);
}

void RunCommand::fill(const std::string& toml, const std::string& source) {
  apply_below(state_->command, toml, source);
}

int RunCommand::run(const std::function<RunSummary(const RunOptions& options)>& train) {
  resolve();
  if (state_->dump_config) {
    const std::string text = config_file_text(state_->command, {"config", "preset", "dump-config"});
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  state_->options.config = "model = \"" + state_->options.name + "\"\n" +
                           config_text(state_->command, changeable_options());
  state_->options.config_defaults = config_defaults(state_->command, changeable_options());
  state_->options.command_line = command_line_of_process();
  state_->options.directory_hint = " (--out, --overwrite)";
  ignore_broken_pipes();  // the log's reader may go before the run
  join_processes(state_->options);
  World* const world = state_->options.world.get();
  const RunSummary summary = named_failures(world, [&] { return train(state_->options); });
  if (world != nullptr && world->rank() > 0) return summary.exit_code;
  std::puts((state_->json ? summary_json(summary) : summary_text(summary)).c_str());
  return summary.exit_code;
}

}  // namespace pagoda
