#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pagoda {

/// What became of a run.
enum class RunStage {
  running,   ///< a process trains in its directory now
  finished,  ///< all its steps are done, or early stopping has ended it
  stopped,   ///< by a signal, a crash or the end of its time; the same command resumes it
};

/// "running", "finished", "stopped".
const char* stage_name(RunStage stage);

/// A run as its directory tells it, without its checkpoints.
struct RunListing {
  std::filesystem::path path;          ///< its directory
  std::string model = {};              ///< "unknown" where its configuration names none
  RunStage stage = RunStage::stopped;  ///< what became of it
  std::int64_t step = 0;               ///< the last that was logged
  std::string best = {};       ///< its best validation: "loss 1.2345, accuracy 0.5000"; empty: none
  std::int64_t best_step = 0;  ///< step of that
};

/// What the directory of a run says of it.
/// Fails: IoError when its files cannot be read; DataError when its configuration is damaged.
RunListing list_run(const std::filesystem::path& path);

/// The directories of runs at or below a directory, sorted. What may not be read is passed over.
/// Fails: UsageError when there is no such directory.
std::vector<std::filesystem::path> find_runs(const std::filesystem::path& directory);

}  // namespace pagoda
