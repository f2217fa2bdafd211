#pragma once

#include <pagoda/data/batches.h>
#include <pagoda/events/event_writer.h>
#include <pagoda/train/evaluate.h>
#include <pagoda/train/sync_step.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "train_flags.h"

namespace pagoda::app {

/// What a model brings to its run; everything else is the same for all models.
struct TrainingTask {
  std::string model;  ///< its name for people
  TowerGroup& towers;
  SyncStepBase& step;
  /// The feeds from a position on, without end.
  std::function<Batches(const DataPosition& start)> data;
  std::function<StepResult(const Feeds&)> train;
  std::function<Evaluation()> test;
  std::string watched;  ///< metric of the test that decides which checkpoint is the best; more is
                        ///< better
  /// Writes what TensorBoard shows of a new run besides numbers.
  std::function<void(EventWriter&)> describe;
};

struct TrainingSummary {
  const char* end = "finished";  ///< why it ended
  int exit_code = 0;             ///< 130 and 143 after a signal
  int towers = 0;
  std::int64_t steps = 0;                         ///< of the whole run
  std::int64_t skipped = 0;                       ///< steps of this call whose loss was not finite
  double samples = 0;                             ///< of this call
  double seconds = 0;                             ///< of this call, tests and checkpoints included
  double waited = 0;                              ///< seconds without data
  double stalled = 0;                             ///< seconds in which checkpoints were copied
  double loss = 0;                                ///< of the last step
  std::optional<Evaluation> test = std::nullopt;  ///< the last one

  double samples_per_second() const { return seconds > 0 ? samples / seconds : 0; }
};

/// A whole run, assembled from step, batches, loop and hooks: goes on where the directory's newest
/// checkpoint stands, logs, tests, saves, traces, and ends by steps, time, signal or early
/// stopping. `config` is kept with the run and must be the same when it goes on.
///
/// Threads: the coordinating thread of the towers.
/// Fails: UsageError when the flags contradict each other or the directory holds another run;
/// DataError when its checkpoint is of another model; IoError when something cannot be written.
TrainingSummary train(const TrainFlags& flags, const std::string& config, TrainingTask task);

}  // namespace pagoda::app
