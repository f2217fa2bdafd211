#pragma once

#include <pagoda/cli/run_command.h>

#include <functional>
#include <string>

namespace pagoda {

/// What a program says about itself.
struct ProgramInfo {
  std::string name;          ///< of the program, in its help and its messages
  std::string about;         ///< one sentence for its help
  RunOptions defaults = {};  ///< what the flags are where nobody gives them
};

/// A program that trains a model of your own, with every flag, file and exit code of `pagoda train`.
///
/// Exit codes: 0 done, 1 failed, 2 wrong usage; 129, 130, 143 after a signal, with the state saved.
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
  /// Trains with the options of the command line.
  using Train = std::function<RunSummary(const RunOptions& options)>;

  explicit RunProgram(ProgramInfo info);

  /// CLI11's own object, for flags beside those of a run.
  CLI::App& flags() { return app_; }

  /// Parses the command line, calls `train`, prints the summary or what went wrong, one line, and
  /// gives the exit code.
  int main(int argc, char** argv, const Train& train);

 private:
  CLI::App app_;
  RunCommand command_;
};

/// The same without flags of its own.
int run_program(int argc, char** argv, ProgramInfo info, const RunProgram::Train& train);

/// What `main` of any program of CLI11 does around its work: takes closed descriptors 0 to 2, so that
/// no file becomes stdout; gives the exit code of `work`; an error is one line on stderr, named after
/// the program, and 1, or 2 for wrong usage.
int guarded_main(const std::string& program, const std::function<int()>& work);

/// Parses the command line, with the program's complaints in one line, then calls `run`. For
/// `guarded_main`. Gives the exit code.
int parse_and_run(CLI::App& program, int argc, char** argv, const std::function<int()>& run);

}  // namespace pagoda
