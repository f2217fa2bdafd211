#pragma once

#include <pagoda/checkpoint/checkpoint_store.h>
#include <pagoda/device/device_memory.h>
#include <pagoda/events/event_writer.h>
#include <pagoda/params/parameter_table.h>
#include <pagoda/terminal/console.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/run_directory.h>
#include <pagoda/train/sync_step.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

struct RunOutputOptions {
  std::filesystem::path directory;  ///< empty: the console only
  Existing existing = Existing::resume;
  int keep_last = 3;
  std::string unit = "samples";  ///< what rates count
  std::string config;
  ConfigRules config_rules = {};
  std::string hint = {};  ///< ends messages about the directory
};

/// Everything that a run leaves behind for people: lines and a bar on the console and, where the
/// run has a directory, its log, metrics, TensorBoard events and checkpoints.
///
/// Threads: the coordinating thread.
/// Fails: IoError when something cannot be written.
class RunOutput {
 public:
  RunOutput(Console& console, const RunOutputOptions& options);

  /// Null without a directory, like the events.
  const std::filesystem::path* directory() const {
    return directory_ ? &directory_->path() : nullptr;
  }
  EventWriter* events() { return events_.get(); }

  /// A line for a person; not shown in JSON format.
  void say(const std::string& text);

  /// The same for the directory's log alone.
  void note(const std::string& text);

  /// What the run is trained on must be what its directory says, where it has one that says so.
  /// Fails: DataError.
  void check_data(const DataRecord& data) const;

  /// Makes the directory say so, before the first step.
  void keep_data(const DataRecord& data, std::int64_t step);

  /// The checkpoint to resume from; nothing for a new run, or without a directory. See
  /// CheckpointStore::recover.
  std::optional<Checkpoint> recover();

  /// Writes a checkpoint in the background, where the run has a directory. The numbers of the steps
  /// before it are on the disk no later than it is.
  void save(Checkpoint checkpoint, Keep keep);

  /// Waits until everything is written.
  void finish();

  /// The run resumes after this step.
  void begin_at(std::int64_t step);

  /// Whether that step was validated before.
  bool has_validation() const;

  /// Moves the bar.
  void progress(const StepResult& result, double samples_per_second);

  /// What the tensors of each tower, or of each of its stages, take of its device.
  void memory(std::int64_t step, const std::vector<std::string>& names,
              const std::vector<MemoryUse>& uses);

  /// The numbers of a step, after which the run is in this state; of a validation, likewise.
  void step(const RunState& state, const StepResult& result, double samples_per_second);
  void validation(std::int64_t step, const Evaluation& evaluation,
                  const std::vector<std::string>& notes, bool is_best);

  /// How the values of each tensor are distributed, for TensorBoard.
  void histograms(std::int64_t step, const std::vector<NamedTensor>& parameters);

  /// Hands files to the system, so that a watcher sees them.
  void flush();

 private:
  void number(std::int64_t step, const std::string& name, double value);

  Console& console_;
  const std::string unit_;
  const std::string hint_;
  std::unique_ptr<RunDirectory> directory_;
  std::unique_ptr<CheckpointStore> checkpoints_;
  std::unique_ptr<EventWriter> events_;
};

}  // namespace pagoda
