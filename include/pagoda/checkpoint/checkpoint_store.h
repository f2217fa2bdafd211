#pragma once

#include <pagoda/checkpoint/checkpoint.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// How long a checkpoint is kept.
enum class Keep {
  among_last,  ///< while it is one of the newest K
  until_next,  ///< until there is a newer one
};

/// What a CheckpointStore keeps.
struct CheckpointStoreOptions {
  int keep_last = 3;  ///< newest checkpoints to keep; the best one is kept as well
  /// Called before each checkpoint is written, in the thread that writes it: for what must be on
  /// disk no later than the checkpoint.
  std::function<void()> before_write = nullptr;
};

/// The checkpoints of a run: the newest K, `step-0000000500.pt`, …, and `best.pt`, a copy of the
/// best. A checkpoint that was saved out of turn, because the run was stopped, is
/// `step-0000000517.stopped.pt` and is removed once there is a newer one, so that a run has the
/// same checkpoints however often it was stopped.
///
/// The newest checkpoint says which one is the best (`RunState::best_step`). If the newest is
/// itself the best, the process may have been killed before `best.pt` was renewed, so `load_best`
/// and `recover` do not rely on that file.
///
/// The store's own thread writes the files, one after another, while training goes on.
///
/// Threads: one coordinating thread calls everything. Owns: the writing thread.
/// Fails: UsageError if `keep_last` is less than 1. A failed write is thrown by the next `save` or
/// `wait` (IoError); the files before it stay.
class CheckpointStore {
 public:
  /// Receives one line for each file that is skipped.
  using Report = std::function<void(const std::string&)>;

  explicit CheckpointStore(std::filesystem::path directory,
                           const CheckpointStoreOptions& options = {});
  /// Waits for the last write. Its error, if any, is lost, so call `wait` first.
  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  /// Writes the checkpoint in the background, after waiting for the one before it to be written. It
  /// is the best so far if its `best_step` is its own step. Its tensors must be copies that nobody
  /// changes.
  void save(Checkpoint checkpoint, Keep keep = Keep::among_last);

  /// Waits until everything is on disk.
  void wait();

  /// The newest intact checkpoint, or the best one if no other is intact; nothing if there are no
  /// checkpoints. Changes nothing in the directory.
  /// Fails: DataError that lists the files if there are some and none can be read. Only damaged
  /// files are skipped: a checkpoint of a newer format (NewerFormatError) and a lack of memory
  /// (std::bad_alloc, c10::Error) are errors.
  std::optional<Checkpoint> load_newest(const Report& report) const;

  /// The best checkpoint; nothing if none is known to be the best. Fails: as load_newest.
  std::optional<Checkpoint> load_best(const Report& report) const;

  /// What a run resumes from: `load_newest`, with the directory put in order for the first `save`.
  /// Damaged checkpoints newer than the one returned are renamed to `….damaged`, and what an
  /// interrupted `save` has left undone is completed: `best.pt` is renewed, old checkpoints and
  /// half-written files are removed.
  /// Fails: as load_newest, and also if `best.pt` has a newer format; checkpoints are then as
  /// before.
  std::optional<Checkpoint> recover(const Report& report);

  /// The files of all checkpoints but `best.pt`, newest first.
  std::vector<std::filesystem::path> files() const;
  /// The path of the copy of the best checkpoint.
  std::filesystem::path best_file() const { return directory_ / "best.pt"; }

 private:
  class Writer;

  struct Found;

  Found find_newest(const Report& report) const;
  void write(const Checkpoint& checkpoint, Keep keep) const;
  void remove_old(std::int64_t newest_step) const;

  const std::filesystem::path directory_;
  const CheckpointStoreOptions options_;
  std::unique_ptr<Writer> writer_;  // last: its thread uses the members above
};

}  // namespace pagoda
