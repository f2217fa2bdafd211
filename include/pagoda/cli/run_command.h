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

/// A command that trains: adds the flags of a run (RunOptions) to a CLI11 command, which may have
/// flags of its own, and --config, --preset, --dump-config, --json.
///
/// What the command line leaves unset comes from --config, then from --preset, then from the
/// defaults. All flags of the command, including its own, are kept with the run and must be the
/// same when it resumes, except for those that may change (`changeable_options`).
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

  /// The options; they are complete after parsing and `resolve`.
  RunOptions& options();

  /// Call after parsing: takes what the command line left unset from --config and --preset. Further
  /// calls do nothing.
  /// Fails: UsageError that names the file and the entry; IoError when the file cannot be read.
  void resolve();

  /// Sets from TOML what is still unset, with lower precedence than everything that was given;
  /// `source` names the text in messages.
  void fill(const std::string& toml, const std::string& source);

  /// Call after parsing: resolves the options, then trains and prints the summary on stdout (rank 0
  /// only), or, with --dump-config, just prints all options as TOML. Returns the exit code.
  int run(const std::function<RunSummary(const RunOptions& options)>& train);

 private:
  struct State;
  std::unique_ptr<State> state_;  // the flags point into it
};

}  // namespace pagoda
