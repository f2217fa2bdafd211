#pragma once

#include <pagoda/checkpoint/checkpoint.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

struct CheckpointStoreOptions {
  int keep_last = 3;  ///< newest checkpoints that are kept; the best one is kept besides
};

/// The checkpoints of a run: `step-0000000500.pt`, …, the newest K, and `best.pt`.
///
/// Files are written by a thread of its own, one after another, while training goes on.
///
/// Threads: one coordinating thread calls everything. Owns: the writing thread.
/// Fails: a failed write is thrown by the next `save` or by `wait` (IoError); the files before it
/// stay.
class CheckpointStore {
 public:
  explicit CheckpointStore(std::filesystem::path directory,
                           const CheckpointStoreOptions& options = {});
  /// Waits for the last write; what it throws is lost, so call `wait` before.
  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  /// Writes it in the background; waits first if the one before is still being written. The tensors
  /// must be copies that nobody changes.
  void save(Checkpoint checkpoint, bool is_best);

  /// Waits until everything is on the disk.
  void wait();

  /// The newest checkpoint that is whole. Each damaged one is passed to `report` as one line and
  /// passed over. Nothing when there is none.
  std::optional<Checkpoint> load_newest(
      const std::function<void(const std::string&)>& report) const;

  /// Newest first.
  std::vector<std::filesystem::path> files() const;
  std::filesystem::path best_file() const { return directory_ / "best.pt"; }

 private:
  class Writer;

  void write(const Checkpoint& checkpoint, bool is_best) const;

  std::filesystem::path directory_;
  CheckpointStoreOptions options_;
  std::unique_ptr<Writer> writer_;  // last: its thread uses the members above
};

}  // namespace pagoda
