#pragma once

#include <pagoda/checkpoint/checkpoint.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pagoda {

/// How long a checkpoint stays.
enum class Keep {
  among_last,  ///< as one of the newest K
  until_next,  ///< until there is a newer one
};

/// What a CheckpointStore keeps.
struct CheckpointStoreOptions {
  int keep_last = 3;  ///< newest checkpoints that are kept; the best one is kept besides
  /// Called before each checkpoint is written, in the thread that writes it: for what must be on
  /// the disk no later than the checkpoint.
  std::function<void()> before_write = nullptr;
};

/// The checkpoints of a run: `step-0000000500.pt`, …, the newest K, and `best.pt`, a copy of the
/// best. One that was saved out of turn, because the run was stopped, is `step-0000000517.stopped.pt`
/// and goes when the next is there, so that a run has the same checkpoints however often it was
/// stopped.
///
/// Which one is best is a fact of the newest checkpoint (`RunState::best_step`): where that is
/// itself the best, `best.pt` may not have been renewed yet when the process was killed, and
/// `load_best` and `recover` do not rely on it.
///
/// Files are written by a thread of its own, one after another, while training goes on.
///
/// Threads: one coordinating thread calls everything. Owns: the writing thread.
/// Fails: a failed write is thrown by the next `save` or by `wait` (IoError); the files before it
/// stay.
class CheckpointStore {
 public:
  /// One line for each file that is passed over.
  using Report = std::function<void(const std::string&)>;

  explicit CheckpointStore(std::filesystem::path directory,
                           const CheckpointStoreOptions& options = {});
  /// Waits for the last write; what it throws is lost, so call `wait` before.
  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  /// Writes it in the background; waits first if the one before is still being written. It is the
  /// best so far where its `best_step` is its own step. The tensors must be copies that nobody
  /// changes.
  void save(Checkpoint checkpoint, Keep keep = Keep::among_last);

  /// Waits until everything is on the disk.
  void wait();

  /// The newest checkpoint that is whole, the best one if no other is. Nothing when there is none.
  /// Changes nothing in the directory.
  /// Fails: DataError that lists the files, when there are some and none can be read. What is not
  /// damage is not passed over: a checkpoint of a newer format (NewerFormatError), memory that runs
  /// out (std::bad_alloc, c10::Error).
  std::optional<Checkpoint> load_newest(const Report& report) const;

  /// The best one; nothing when no checkpoint is known to be the best. Fails: as load_newest.
  std::optional<Checkpoint> load_best(const Report& report) const;

  /// What a run resumes from: `load_newest`, and the directory put in order before the first
  /// `save`: damaged checkpoints newer than it are renamed to `….damaged`, and what a `save` that
  /// was cut off left undone is done: `best.pt` renewed, old checkpoints and half-written files
  /// removed.
  /// Fails: as load_newest, also where `best.pt` has a newer format; checkpoints are then as before.
  std::optional<Checkpoint> recover(const Report& report);

  /// Newest first.
  std::vector<std::filesystem::path> files() const;
  /// Where the copy of the best one is.
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
