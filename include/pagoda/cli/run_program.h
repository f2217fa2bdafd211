#pragma once

#include <pagoda/cli/run_command.h>

#include <functional>
#include <string>

namespace pagoda {

/// What a program says about itself.
struct ProgramInfo {
  std::string name;          ///< of the program, in its help and messages
  std::string about;         ///< one sentence for its help
  RunOptions defaults = {};  ///< default values of the flags
};

/// A program that trains your own model, with every flag, file and exit code of `pagoda train`.
///
/// Exit codes: 0 done, 1 failed, 2 wrong usage; 129, 130, 138, 143 or 152 after a signal (128 plus
/// its number), with the state saved.
///
/// Example, with a flag of its own:
///     int main(int argc, char** argv) {
///       double turns = 1.5;
///       pagoda::RunProgram program({.name = "spiral", .about = "Trains a spiral net."});
///       program.flags().add_option("--turns", turns, "of each arm")->capture_default_str();
///       return program.main(argc, argv, [&](const pagoda::RunOptions& options) {
///         pagoda::Run run(options, [] { return SpiralNet(); });
///         return run.train(spiral(turns), spiral(turns), loss);
///       });
///     }
class RunProgram {
 public:
  /// Trains with the options from the command line.
  using Train = std::function<RunSummary(const RunOptions& options)>;

  explicit RunProgram(ProgramInfo info);

  /// CLI11's own object, for flags in addition to those of a run.
  CLI::App& flags() { return app_; }

  /// Parses the command line, calls `train`, prints the summary or one line about what went wrong,
  /// and returns the exit code.
  int main(int argc, char** argv, const Train& train);

 private:
  CLI::App app_;
  RunCommand command_;
};

/// The same for a program without flags of its own.
int run_program(int argc, char** argv, ProgramInfo info, const RunProgram::Train& train);

/// What the `main` of any CLI11 program does around its work. It occupies those of the descriptors
/// 0 to 2 that are closed, so that no file becomes stdout, and returns the exit code of `work`. An
/// error, including a failure to write to stdout, becomes one line on stderr that begins with the
/// program's name, and the exit code 1, or 2 for wrong usage.
int guarded_main(const std::string& program, const std::function<int()>& work);

/// For use inside `guarded_main`: parses the command line, then calls `run`, and returns the exit
/// code. A mistake in the command line is reported in one line.
int parse_and_run(CLI::App& program, int argc, char** argv, const std::function<int()>& run);

}  // namespace pagoda
