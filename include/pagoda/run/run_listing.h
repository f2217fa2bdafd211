#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pagoda {

/// The state of a run.
enum class RunStage {
  running,   ///< a process is training in its directory
  finished,  ///< all its steps are done, or early stopping ended it
  stopped,   ///< by a signal, a crash or a time limit; the same command resumes it
};

/// "running", "finished", "stopped".
const char* stage_name(RunStage stage);

/// What a run's directory says about it; checkpoints are not read.
struct RunListing {
  std::filesystem::path path;          ///< its directory
  std::string model = {};              ///< "unknown" if its configuration names none
  RunStage stage = RunStage::stopped;  ///< its state
  std::int64_t step = 0;               ///< last step that was logged
  std::string best = {};       ///< its best validation: "loss 1.2345, accuracy 0.5000"; empty: none
  std::int64_t best_step = 0;  ///< step of that validation
};

/// Reads what a run's directory says about it.
/// Fails: IoError when its files cannot be read; DataError when its configuration is damaged.
RunListing list_run(const std::filesystem::path& path);

/// The directories of runs at or below a directory, sorted. A run's own directory is not searched
/// for others, and what may not be read is skipped.
/// Fails: UsageError when there is no such directory.
std::vector<std::filesystem::path> find_runs(const std::filesystem::path& directory);

}  // namespace pagoda
