#pragma once

#include <pagoda/train/data_record.h>
#include <pagoda/train/run_config.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace pagoda {

class AppendFile;
class DirectoryLock;

/// What to do with a directory that a run has been in before.
enum class Existing {
  resume,     ///< it must have the same configuration
  overwrite,  ///< remove it and start anew
};

/// The directory of one run, held by this process alone:
///
///     config.toml   the configuration        checkpoints/  see CheckpointStore
///     data.toml     see DataRecord           events/       for TensorBoard
///     train.log     what the log said
///     metrics.tsv   step, name and value of every number that was logged
///     vocabulary/   of text, put there by whoever trains on it
///
/// A process that is killed at any moment, or a power cut, leaves a directory that the next start
/// can resume: half-written files of it are removed, and an overwriting that was cut off is
/// finished (`.overwriting` marks it).
///
/// Threads: one; `sync` may be called from another at the same time. Owns: the lock and the open
/// files.
/// Fails: IoError when it cannot be made or written; UsageError when another process holds it, when
/// its configuration differs (the lines that differ are listed), or when it is not empty and not a
/// run.
class RunDirectory {
 public:
  /// `rules` say what of the configuration need not be the same.
  RunDirectory(std::filesystem::path path, Existing existing, const std::string& config,
               const ConfigRules& rules = {});
  ~RunDirectory();

  /// As it was given.
  const std::filesystem::path& path() const { return path_; }
  /// Where checkpoints lie.
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  /// Where TensorBoard's files lie.
  std::filesystem::path events() const { return path_ / "events"; }

  /// Fails: DataError with the difference when the run has a record of other data.
  void check_data(const DataRecord& now) const;

  /// Keeps the record, unless the run has one; whether it had none.
  bool keep_data(const DataRecord& now) const;

  /// Forgets the numbers of steps after `step`, which a run that was cut off may have left behind.
  void begin_at(std::int64_t step);

  /// Whether the step that `begin_at` was called with has this number already.
  bool has_metric(const std::string& name) const { return last_metrics_.contains(name); }

  /// Adds a line to `train.log`.
  void log(std::string_view line);
  /// Adds a number to `metrics.tsv`.
  void metric(std::int64_t step, std::string_view name, double value);

  /// Hands what was logged to the system.
  void flush();

  /// Makes the numbers that were flushed durable. A checkpoint that is written after that is never
  /// without the numbers of the steps before it.
  void sync() const;

 private:
  std::filesystem::path path_;
  std::unique_ptr<DirectoryLock> lock_;
  std::unique_ptr<AppendFile> log_;
  std::unique_ptr<AppendFile> metrics_;
  std::set<std::string> last_metrics_;  // of the step that it began at
};

/// Whether a process trains in the directory at this moment.
bool is_running(const std::filesystem::path& path);

/// Whether the directory holds a run that can be resumed. What a start left that was killed
/// while it overwrote is none: the next start removes it.
bool holds_run(const std::filesystem::path& path);

/// The same; false where that cannot be seen, and why.
bool holds_run(const std::filesystem::path& path, std::error_code& error);

}  // namespace pagoda
