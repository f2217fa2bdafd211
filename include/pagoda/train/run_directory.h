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

/// What to do with a directory that already holds a run.
enum class Existing {
  resume,     ///< the configuration must be the same
  overwrite,  ///< remove that run and start again
};

/// The directory of one run, locked by this process:
///
///     config.toml   the configuration        checkpoints/  see CheckpointStore
///     data.toml     see DataRecord           events/       for TensorBoard
///     train.log     the log
///     metrics.tsv   step, name and value of every number that was logged
///     vocabulary/   for text, written by whatever trains on it
///
/// Whenever the process is killed or the power fails, the run can still be resumed: the next start
/// removes half-written files, and completes an interrupted overwrite (marked by `.overwriting`).
///
/// Threads: one; `sync` may be called from another at the same time. Owns: the lock and the open
/// files.
/// Fails: IoError when it cannot be created or written; UsageError when another process has locked
/// it, when its configuration differs (the differences are listed), or when it is neither empty nor
/// a run; DataError when its configuration is damaged.
class RunDirectory {
 public:
  /// `rules`: what may differ in the configuration.
  RunDirectory(std::filesystem::path path, Existing existing, const std::string& config,
               const ConfigRules& rules = {});
  ~RunDirectory();

  /// The path as it was given.
  const std::filesystem::path& path() const { return path_; }
  /// Where checkpoints are kept.
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  /// Where TensorBoard's files are kept.
  std::filesystem::path events() const { return path_ / "events"; }

  /// Compares the data with the run's record, if it has one.
  /// Fails: DataError that lists the differences, or says that the record is damaged.
  void check_data(const DataRecord& now) const;

  /// Writes the record unless the run has one; returns whether it did.
  bool keep_data(const DataRecord& now) const;

  /// Removes the metrics of steps after `step`, which an interrupted run may have left behind.
  void begin_at(std::int64_t step);

  /// Whether the step that `begin_at` was called with already has this metric.
  bool has_metric(const std::string& name) const { return last_metrics_.contains(name); }

  /// Adds a line to `train.log`.
  void log(std::string_view line);
  /// Adds a number to `metrics.tsv`.
  void metric(std::int64_t step, std::string_view name, double value);

  /// Hands everything that was logged to the operating system.
  void flush();

  /// Makes the metrics that were flushed durable, so that a checkpoint written afterwards never
  /// lacks the metrics of the steps before it.
  void sync() const;

 private:
  std::filesystem::path path_;
  std::unique_ptr<DirectoryLock> lock_;
  std::unique_ptr<AppendFile> log_;
  std::unique_ptr<AppendFile> metrics_;
  std::set<std::string> last_metrics_;  // names, of the step given to begin_at
};

/// Whether a process is training in the directory now.
bool is_running(const std::filesystem::path& path);

/// Whether the directory holds a run that can be resumed. The remains of an interrupted overwrite
/// do not count: the next start removes them.
bool holds_run(const std::filesystem::path& path);

/// The same without throwing: false if the directory cannot be examined, with the reason in
/// `error`.
bool holds_run(const std::filesystem::path& path, std::error_code& error);

}  // namespace pagoda
