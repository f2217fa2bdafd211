#pragma once

#include <pagoda/cli/preset.h>
#include <pagoda/run/run_options.h>
#include <pagoda/run/run_summary.h>

#include <functional>
#include <memory>
#include <span>
#include <string>

#include <CLI/CLI.hpp>

namespace pagoda {

/// A command that trains: the flags of a run (RunOptions) on a command of CLI11 that may have flags
/// of its own, and --config, --preset, --dump-config, --json.
///
/// What the command line leaves unset comes from --config, then from --preset, then from the
/// defaults. All flags of the command, own ones too, are kept with the run and must be the same when
/// it resumes, but for those that may change (`changeable_options`).
///
/// Owns: the options. Borrows: the command, which must outlive it.
///
/// Example:
///     RunCommand command(app, {.name = "spiral"});
///     app.add_option("--turns", turns, "of each arm")->capture_default_str();
///     app.parse(argc, argv);
///     return command.run([&](const RunOptions& options) { return train_spiral(options, turns); });
class RunCommand {
 public:
  RunCommand(CLI::App& command, RunOptions defaults, std::span<const Preset> presets = {});
  ~RunCommand();
  RunCommand(const RunCommand&) = delete;
  RunCommand& operator=(const RunCommand&) = delete;

  /// As they are after parsing and `resolve`.
  RunOptions& options();

  /// After parsing: takes what the command line left unset from --config and --preset.
  /// Fails: UsageError that names file and entry; IoError when the file cannot be read.
  void resolve();

  /// Sets from TOML what is still unset, below everything that was given; `source` says in messages
  /// where it came from.
  void fill(const std::string& toml, const std::string& source);

  /// After parsing: resolves, then trains and prints the summary on stdout, or prints all options as
  /// TOML where that was asked for. Gives the exit code.
  int run(const std::function<RunSummary(const RunOptions& options)>& train);

 private:
  struct State;
  std::unique_ptr<State> state_;  // where the flags point to
};

}  // namespace pagoda
